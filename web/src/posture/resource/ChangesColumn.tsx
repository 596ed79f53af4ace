import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { posture, type ChangeLog, type Finding } from '../../api/posture';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { useKeys } from '../../parts/keys';
import { Mark, severity } from '../../parts/marks';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, plural, shortType } from '../../parts/text';
import { dateTime, Time } from '../../parts/time';
import { raisedBy } from '../activity/events';
import { causeText } from '../activity/actor';
import { differences, differencesBetween, extent, isFirstRead, type Difference } from './changes';

type Entry = ChangeLog['changeLog'][number];

/** Differences line by line: the first of many, and all when asked for. */
function Differences({ lines, limit = 12 }: { lines: Difference[]; limit?: number }) {
  const [all, setAll] = useState(false);
  const shown = all ? lines : lines.slice(0, limit);
  return (
    <>
      <table className="diff">
        <tbody>
          {shown.map((l, i) => (
            <tr key={i}>
              <th scope="row">{l.name}</th>
              <td className={l.before === undefined ? '' : 'del'}>{l.before}</td>
              <td className={l.after === undefined ? '' : 'add'}>{l.after}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < lines.length && (
        <p className="row tight small t3">
          {count(shown.length)} of {plural(lines.length, 'difference')}
          <button type="button" className="link" onClick={() => setAll(true)}>
            Show all
          </button>
        </p>
      )}
    </>
  );
}

/** A link to the worst of the findings that a change raised, with their number. */
function Raised({ findings }: { findings: Finding[] }) {
  const worst = [...findings].sort((a, b) => b.riskScore - a.riskScore)[0];
  if (!worst) return null;
  return (
    <Link
      className="row tight small"
      to="/findings"
      search={{ f: worst.id, ...(worst.status === 'Resolved' ? { status: 'resolved' } : {}) } as never}
    >
      <Mark name={severity(worst.level, worst.riskScore)} />
      Raised {plural(findings.length, 'finding')}
    </Link>
  );
}

const causes = { Event: 'event', Collection: 'collection' } as const;

/** How many changes are drawn at first, and how many more at a time. */
const step = 30;

function Timeline({ entries, findings }: { entries: Entry[]; findings: Finding[] }) {
  const [shown, setShown] = useState(step);
  return (
    <>
      <ol className="timeline">
        {entries.slice(0, shown).map((entry, i) => {
          const isFirst = isFirstRead(entries, i);
          const nextChange = entries[i - 1]?.lastUpdateTime;
          return (
            <li key={entry.lastUpdateTime}>
              <span className="timeline-head">
                <Time at={entry.lastUpdateTime} as="date" />
                {isFirst ? (
                  <span className="t3">first read</span>
                ) : (
                  entry.cause && <span className="t3">{causeText(causes[entry.cause], entry)}</span>
                )}
              </span>
              {isFirst ? <p className="small t3">{extent(entry)}</p> : <Differences lines={differences(entry)} />}
              <Raised findings={raisedBy(entry.lastUpdateTime, findings, nextChange)} />
            </li>
          );
        })}
      </ol>
      {shown < entries.length && (
        <p className="row">
          <Button onClick={() => setShown(shown + step)}>Show older changes</Button>
          <span className="small t3">
            {count(shown)} of {plural(entries.length, 'change')}
          </span>
        </p>
      )}
    </>
  );
}

/** Around lists the changes up to this long before and after the newest change of the resource. */
const aroundMillis = 5 * 60_000;
const verbs = { ADD: 'added', UPDATE: 'changed', DELETE: 'deleted' } as const;

/** The other resources of the account that changed at about the time of the newest change of the resource. */
function Around({ id, account, at }: { id: string; account: string; at: string }) {
  const time = new Date(at).getTime();
  const query = useInfiniteQuery({
    queryKey: ['entities', 'changes-around', account, at],
    queryFn: ({ pageParam, signal }) =>
      posture.post('/v1/entities/changes-query', {
        body: {
          filters: {
            cloudAccountIds: [account],
            from: new Date(time - aroundMillis).toISOString(),
            to: new Date(time + aroundMillis).toISOString(),
          },
          paginationInfo: { pageSize: 50, continuationToken: pageParam },
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.continuationToken ?? null,
  });
  return (
    <Answer query={query} what="the other changes of the account">
      {({ pages }) => {
        const others = pages.flatMap((p) => p.results).filter((c) => c.entityId !== id);
        if (others.length === 0 && !query.hasNextPage)
          return (
            <Empty title="Nothing else changed">
              No other resource of the account changed within five minutes of <Time at={at} as="date" />.
            </Empty>
          );
        return (
          <>
            <ol className="timeline">
              {others.map((c) => (
                <li key={`${c.entityId}${c.lastUpdateTime}${c.changeType}`}>
                  <span className="timeline-head">
                    <Time at={c.lastUpdateTime} as="date" />
                    <span className="t3">
                      {verbs[c.changeType]}, {causeText(causes[c.cause], c)}
                    </span>
                  </span>
                  <Link className="link" to={`/resource/${encodeURIComponent(c.entityId)}`}>
                    {c.entityName}
                  </Link>{' '}
                  <span className="t3">{shortType(c.entityType)}</span>
                  {c.changeType === 'UPDATE' && <Differences lines={differences(c)} limit={3} />}
                </li>
              ))}
            </ol>
            {query.hasNextPage && (
              <p className="row">
                <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  Show older changes
                </Button>
              </p>
            )}
          </>
        );
      }}
    </Answer>
  );
}

/** The states of a resource after two changes, side by side. */
function Compare({ entries, onClose }: { entries: Entry[]; onClose: () => void }) {
  const [first, setFirst] = useState(entries.at(-1)?.lastUpdateTime ?? '');
  const [second, setSecond] = useState(entries[0]?.lastUpdateTime ?? '');
  const [earlier, later] = first < second ? [first, second] : [second, first];
  const lines = differencesBetween(entries, earlier, later);
  const options = entries.map((e) => ({ value: e.lastUpdateTime, label: dateTime(e.lastUpdateTime) }));
  return (
    <Dialog title="Compare two changes" onClose={onClose}>
      <div className="row wrap">
        <Select label="After" visibleLabel value={first} options={options} onChange={setFirst} />
        <Select label="and after" visibleLabel value={second} options={options} onChange={setSecond} />
      </div>
      {lines.length === 0 ? <p className="t2">Both states are equal.</p> : <Differences lines={lines} limit={200} />}
      <div className="dialog-foot">
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

/** The changes of a resource, or those of other resources at the same time. The account is unknown if the resource no longer exists. */
export function ChangesColumn({ id, account, findings }: { id: string; account?: string; findings: Finding[] }) {
  const [view, setView] = useState<'this' | 'around'>('this');
  const query = useQuery({
    queryKey: ['entities', 'changelog', id],
    queryFn: () => posture.get('/v1/entities/{resource_id}/changelog', { path: { resource_id: id } }),
  });
  const entries = [...(query.data?.changeLog ?? [])].sort((a, b) => b.lastUpdateTime.localeCompare(a.lastUpdateTime));
  const newest = entries[0]?.lastUpdateTime;
  const [comparing, setComparing] = useState(false);
  const compare = () => entries.length > 1 && setComparing(true);
  useKeys([{ keys: 'd', does: 'Compare two changes', run: compare }]);
  return (
    <section className="region">
      <header>
        <h2>Changes</h2>
        {newest && (
          <span className="row tight end">
            {entries.length > 1 && (
              <Button look="quiet" keys="D" onClick={compare}>
                Compare
              </Button>
            )}
            {account && (
              <Segments<'this' | 'around'>
                small
                label="Changes"
                value={view}
                onChange={setView}
                options={[
                  { value: 'this', label: 'This' },
                  { value: 'around', label: 'Others' },
                ]}
              />
            )}
          </span>
        )}
      </header>
      <Answer query={query} what="the change log">
        {() =>
          !newest ? (
            <Empty title="Nothing has changed">The resource is the same as when it was first read.</Empty>
          ) : view === 'around' && account ? (
            <Around id={id} account={account} at={newest} />
          ) : (
            <Timeline entries={entries} findings={findings} />
          )
        }
      </Answer>
      {comparing && <Compare entries={entries} onClose={() => setComparing(false)} />}
    </section>
  );
}
