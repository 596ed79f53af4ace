import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { desktop, type AuditRecord } from '../../api/desktop';
import { useAddress } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Mark, type MarkName } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { Time } from '../../parts/time';

const marks: Record<AuditRecord['outcome'], MarkName> = { success: 'ok', denied: 'warn', failure: 'error' };
type Outcome = AuditRecord['outcome'] | 'all';

/** Who changed what, and who was refused. */
export function Audit() {
  const { search, change } = useAddress();
  const outcome = (search.outcome ?? 'all') as Outcome;
  const query = useInfiniteQuery({
    queryKey: ['desktop', 'audit', outcome],
    queryFn: ({ pageParam }) =>
      desktop.get('/rest/config/v1/audit', {
        query: { ...(pageParam ? { cursor: Number(pageParam) } : {}), ...(outcome !== 'all' ? { outcome } : {}) },
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_cursor ?? null,
    placeholderData: keepPreviousData,
  });
  const text = (r: AuditRecord) => `${r.operation} ${r.actor_name ?? ''} ${Object.values(r.targets).join(' ')}`.toLowerCase();
  const records = (query.data?.pages.flatMap((p) => p.records) ?? []).filter((r) =>
    text(r).includes((search.operation ?? '').toLowerCase()),
  );
  return (
    <>
      <div className="toolbar">
        <SearchInput
          label="Search the audit"
          placeholder="Operation, person, target"
          value={search.operation ?? ''}
          onChange={(operation) => change({ operation: operation || undefined })}
        />
        <Segments<Outcome>
          label="Outcome"
          value={outcome}
          onChange={(o) => change({ outcome: o === 'all' ? undefined : o })}
          options={[
            { value: 'all', label: 'All' },
            { value: 'success', label: 'Success' },
            { value: 'denied', label: 'Denied' },
            { value: 'failure', label: 'Failure' },
          ]}
        />
      </div>
      <Answer query={query} what="the audit" padded>
        {() =>
          records.length === 0 ? (
            <Empty padded title="No record matches" />
          ) : (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>When</th>
                    <th>Who</th>
                    <th>Operation</th>
                    <th className="wide">On</th>
                    <th>Outcome</th>
                    <th className="wide">From</th>
                  </tr>
                </thead>
                <tbody>
                  {records.map((r) => (
                    <tr key={r.id}>
                      <td className="t3">
                        <Time at={r.timestamp} as="date" />
                      </td>
                      <td>{r.actor_name ?? r.actor ?? '–'}</td>
                      <th scope="row">{r.operation}</th>
                      <td className="wide t2">
                        {Object.entries(r.targets)
                          .map(([k, v]) => `${k} ${v}`)
                          .join(', ')}
                      </td>
                      <td>
                        <span className={`word c-${marks[r.outcome]}`} title={r.cause}>
                          <Mark name={marks[r.outcome]} />
                          {r.outcome}
                        </span>
                      </td>
                      <td className="wide t3">{r.source}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {query.hasNextPage && (
                <div className="region">
                  <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
                    Older
                  </Button>
                </div>
              )}
            </div>
          )
        }
      </Answer>
    </>
  );
}
