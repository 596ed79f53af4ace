import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { posture, type Run } from '../../api/posture';
import { showToast } from '../../parts/toast';

/** A run, polled every second while it lasts. When it has ended, the data that it can have changed is reloaded. */
export function useRun(cloudAccountId: string, collectionId: string | undefined) {
  const client = useQueryClient();
  const query = useQuery({
    queryKey: ['run', collectionId],
    enabled: !!collectionId,
    queryFn: () =>
      posture.get('/v1/cloud-accounts/{cloud_account_id}/collections/{collection_id}', {
        path: { cloud_account_id: cloudAccountId, collection_id: collectionId ?? '' },
      }),
    refetchInterval: (q) => (q.state.data?.status === 'Started' ? 1000 : false),
  });
  const ended = query.data !== undefined && query.data.status !== 'Started';
  useEffect(() => {
    if (!ended) return;
    for (const key of ['runs', 'findings', 'entity', 'entities', 'accounts']) void client.invalidateQueries({ queryKey: [key] });
  }, [ended, client]);
  return query;
}

/** Starts and stops reading an account. */
export function useCollect() {
  const client = useQueryClient();
  const showFailure = (cause: unknown) => showToast(failureText(cause));
  return {
    start: async (cloudAccountId: string): Promise<Run | undefined> => {
      try {
        const run = await posture.post('/v1/cloud-accounts/{cloud_account_id}/collections', {
          path: { cloud_account_id: cloudAccountId },
          body: {},
        });
        await client.invalidateQueries({ queryKey: ['runs'] });
        showToast('Reading the account');
        return run as Run;
      } catch (cause) {
        showFailure(cause);
        return undefined;
      }
    },
    stop: async (cloudAccountId: string, collectionId: string) => {
      try {
        await posture.delete('/v1/cloud-accounts/{cloud_account_id}/collections/{collection_id}', {
          path: { cloud_account_id: cloudAccountId, collection_id: collectionId },
        });
        await client.invalidateQueries({ queryKey: ['run', collectionId] });
      } catch (cause) {
        showFailure(cause);
      }
    },
  };
}
