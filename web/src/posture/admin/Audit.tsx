import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { posture, type AuditRecord } from '../../api/posture';
import { useAddress } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Mark, type MarkName } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { Time } from '../../parts/time';

const marks: Record<AuditRecord['outcome'], MarkName> = { success: 'ok', denied: 'warn', failure: 'error' };
type Outcome = AuditRecord['outcome'] | 'all';

/** Who did what. Values are never in the record, only names of members. */
export function Audit() {
  const { search, change } = useAddress();
  const outcome = (search.outcome ?? 'all') as Outcome;
  const query = useInfiniteQuery({
    queryKey: ['audit', search.outcome, search.actor],
    queryFn: ({ pageParam }) =>
      posture.get('/v1/audit', {
        query: {
          ...(pageParam ? { continuationToken: pageParam } : {}),
          ...(search.actor ? { actor: search.actor } : {}),
          ...(outcome !== 'all' ? { outcome } : {}),
        },
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.continuationToken ?? null,
    placeholderData: keepPreviousData,
  });
  const records = (query.data?.pages.flatMap((p) => p.results) ?? []).filter((r) =>
    `${r.operation} ${r.actorName ?? ''} ${Object.values(r.targets).join(' ')}`
      .toLowerCase()
      .includes((search.operation ?? '').toLowerCase()),
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
        {search.actor && (
          <Button look="quiet" onClick={() => change({ actor: undefined })}>
            Everybody
          </Button>
        )}
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
                    <th className="wide">Who</th>
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
                        <Time at={r.time} as="date" />
                      </td>
                      <td className="wide">{r.actorName ?? r.actor ?? '–'}</td>
                      <th scope="row">
                        {r.operation}
                        <span className="small t3 narrow">{r.actorName ?? r.actor}</span>
                      </th>
                      <td className="wide t2">
                        {Object.entries(r.targets)
                          .map(([k, v]) => `${k} ${v}`)
                          .join(', ')}
                        {r.changed.length > 0 && <span className="small t3"> changed {r.changed.join(', ')}</span>}
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
