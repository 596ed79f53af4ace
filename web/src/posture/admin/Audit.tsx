import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { posture } from '../../api/posture';
import { useAddress } from '../../frame/address';
import { AuditList, outcomeOf } from '../../parts/AuditList';
import { Button } from '../../parts/Button';

/** Who did what in the organisation. */
export function Audit() {
  const { search, change } = useAddress();
  const outcome = outcomeOf(search.outcome);
  const query = useInfiniteQuery({
    queryKey: ['audit', outcome, search.actor, search.target],
    queryFn: ({ pageParam }) =>
      posture.get('/v1/audit', {
        query: {
          ...(pageParam ? { continuationToken: pageParam } : {}),
          ...(search.actor ? { actor: search.actor } : {}),
          ...(search.target ? { target: search.target } : {}),
          ...(outcome ? { outcome } : {}),
        },
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.continuationToken ?? null,
    placeholderData: keepPreviousData,
  });
  const records = query.data?.pages.flatMap((p) => p.results) ?? [];
  return (
    <AuditList query={query} records={records.map((r) => ({ ...r, who: r.actorName ?? r.actor }))}>
      {search.actor && (
        <Button look="quiet" onClick={() => change({ actor: undefined })}>
          Everybody
        </Button>
      )}
    </AuditList>
  );
}
