import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { posture } from '../../api/posture';
import { plural } from '../../parts/text';
import { say } from '../../parts/toast';

/** Suppresses and releases findings, with a way back. */
export function useSuppress() {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const renew = () => client.invalidateQueries({ queryKey: ['findings'] });

  const release = async (ids: string[]) => {
    await Promise.all(ids.map((id) => posture.delete('/v2/findings/{finding_id}/suppression', { path: { finding_id: id } })));
    await renew();
  };
  const suppress = async (ids: string[], reason: string, until: Date | null): Promise<boolean> => {
    setBusy(true);
    setError(undefined);
    try {
      const body = { reason, until: until?.toISOString() ?? null };
      await Promise.all(ids.map((id) => posture.put('/v2/findings/{finding_id}/suppression', { path: { finding_id: id }, body })));
      say(`${plural(ids.length, 'finding')} suppressed`, () => void release(ids));
      await renew();
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
