import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { desktop } from '../../api/desktop';
import { useAddress } from '../../frame/address';
import { AuditList, outcomeOf } from '../../parts/AuditList';

/** Who changed what, and who was refused. */
export function Audit() {
  const { search } = useAddress();
  const { target } = search;
  const outcome = outcomeOf(search.outcome);
  const query = useInfiniteQuery({
    queryKey: ['desktop', 'audit', outcome, target],
    queryFn: ({ pageParam }) =>
      desktop.get('/rest/config/v1/audit', {
        query: { ...(pageParam ? { cursor: Number(pageParam) } : {}), ...(outcome ? { outcome } : {}), ...(target ? { target } : {}) },
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? null,
    placeholderData: keepPreviousData,
  });
  const records = query.data?.pages.flatMap((p) => p.records) ?? [];
  return <AuditList query={query} records={records.map((r) => ({ ...r, time: r.timestamp, who: r.actor_name ?? r.actor }))} />;
}
