import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture } from '../../api/posture';
import { plural, sentence } from '../../parts/text';
import { say } from '../../parts/toast';

/** Suppresses and releases findings, with a way back. */
export function useSuppress() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const renew = () => client.invalidateQueries({ queryKey: ['findings'] });

  const release = async (ids: string[]) => {
    try {
      const { changedCount } = await posture.post('/v2/findings/releases', { body: { findingIds: ids } });
      say(`${plural(changedCount, 'finding')} released`);
      await renew();
    } catch (cause) {
      say(cause instanceof ApiError ? sentence(cause.message) : 'That failed.');
    }
  };
  const suppress = async (ids: string[], reason: string, until: Date | null): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      const { changedCount } = await posture.post('/v2/findings/suppressions', {
        body: { findingIds: ids, reason, until: until?.toISOString() ?? null },
      });
      say(`${plural(changedCount, 'finding')} suppressed`, () => void release(ids));
      void renew(); // not waited for: the dialog closes at once, because the way back behind it is offered for ten seconds
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
