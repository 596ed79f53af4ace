import { failureText } from '../../parts/failure';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { posture } from '../../api/posture';
import { plural } from '../../parts/text';
import { showToast } from '../../parts/toast';

/** Suppresses and releases findings. A suppression can be undone from its toast. */
export function useSuppress() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const renew = () => client.invalidateQueries({ queryKey: ['findings'] });

  const release = async (ids: string[]) => {
    try {
      const { changedCount } = await posture.post('/v2/findings/releases', { body: { findingIds: ids } });
      showToast(`${plural(changedCount, 'finding')} released`);
      await renew();
    } catch (cause) {
      showToast(failureText(cause));
    }
  };
  const suppress = async (ids: string[], reason: string, until: Date | null): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      const { changedCount } = await posture.post('/v2/findings/suppressions', {
        body: { findingIds: ids, reason, until: until?.toISOString() ?? null },
      });
      showToast(`${plural(changedCount, 'finding')} suppressed`, () => void release(ids));
      void renew(); // not awaited: the dialog hides the toast, which offers to undo for only ten seconds
      return true;
    } catch (cause) {
      setError(cause);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { suppress, release, busy, error };
}
