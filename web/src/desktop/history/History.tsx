import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ChangeGroup, StatusChange } from '../../api/desktop';
import { choiceOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Mark } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { plural, sentence, words } from '../../parts/text';
import { dateTime, Time } from '../../parts/time';
import { addressOf, allKinds, kindWords, shortName } from '../components';
import { changeGroupsQuery, changesQuery, type ChangeFilter } from '../data';
import { StatusStrip } from '../kinds/StatusStrip';
import { TimeAxis } from '../kinds/TimeAxis';
import { partName } from '../partName';
import { healthMark, rank, type Status } from '../status';
import { shownOf } from './shown';
import '../kinds/kinds.css';

const ranges = { '1h': 3_600_000, '1d': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;
type Range = keyof typeof ranges;
const statuses = ['ERROR', 'PROBLEM', 'DOWN', 'OFFLINE', 'UNCONTACTABLE', 'WARNING', 'UNKNOWN', 'STALE', 'OK'];

const StatusWord = ({ mark, status }: { mark: Status; status: string }) => (
  <span className={`word c-${mark}`}>
    <Mark name={mark} />
    {words(status)}
  </span>
);

const Change = ({ of: c }: { of: StatusChange }) => (
  <tr className="alert-member">
    <td className="t3 small">
      <Time at={c.timestamp} as="clock" />
    </td>
    <td>
      <Link to={addressOf(c.kind, c.id)}>{shortName(c)}</Link> <span className="small t3">{partName(c.part)}</span>
      <span className="narrow block">
        <StatusWord mark={healthMark(c.to_health)} status={c.to_status} />
      </span>
    </td>
    <td className="wide roomy t3">{words(c.from_status)}</td>
    <td className="wide">
      <StatusWord mark={healthMark(c.to_health)} status={c.to_status} />
    </td>
    <td className="wide small t2">{c.reasons[0] && sentence(c.reasons[0])}</td>
  </tr>
);

/** Changes with one cause, as one row of the table that can be expanded. */
function Group({ group: g }: { group: ChangeGroup }) {
  const [open, setOpen] = useState(false);
  const mark = healthMark(g.health);
  const shown = shownOf(g);
  const name = shortName(g.cause);
  return (
    <>
      <tr>
        <td className="t3">
          <Time at={g.last_timestamp} as="date" />
        </td>
        <th scope="row">
          <span className="row tight">
            {g.count > 1 && (
              <Button
                look="quiet"
                icon={open ? 'down' : 'right'}
                className="xs"
                aria-expanded={open}
                aria-label={`${open ? 'Hide' : 'Show'} the changes of ${name}`}
                onClick={() => setOpen(!open)}
              />
            )}
            <Link to={addressOf(g.cause.kind, g.cause.id)}>{name}</Link>
            <span className="small t3">
              {g.count > 1
                ? g.component_count > 1
                  ? plural(g.component_count, 'component')
                  : plural(g.count, 'change')
                : partName(shown?.part)}
            </span>
          </span>
          <span className="narrow block">
            <StatusWord mark={mark} status={shown?.to_status ?? g.health} />
          </span>
        </th>
        <td className="wide roomy t3">{shown && words(shown.from_status)}</td>
        <td className="wide">
          <StatusWord mark={mark} status={shown?.to_status ?? g.health} />
        </td>
        <td className="wide t2">{g.reasons[0] && sentence(g.reasons[0])}</td>
      </tr>
      {open && g.changes.map((c, i) => <Change key={i} of={c} />)}
      {open && g.count > g.changes.length && (
        <tr className="alert-member">
          <td />
          <td colSpan={4} className="small t3">
            and {g.count - g.changes.length} more
          </td>
        </tr>
      )}
    </>
  );
}

/** The statuses of one component over the whole range. */
function Lane({ cause, from, to }: { cause: ChangeGroup['cause']; from: number; to: number }) {
  const query = useQuery({
    ...changesQuery({ kind: cause.kind, id: cause.id, since: from, limit: 500 }),
    placeholderData: keepPreviousData, // the strip stays on the screen when the range advances, each minute
  });
  const own = (query.data?.changes ?? []).filter((c) => !c.part);
  if (!own[0]) return null;
  return (
    <div className="lane">
      <Link className="cut" to={addressOf(cause.kind, cause.id)}>
        {shortName(cause)}
      </Link>
      <StatusStrip changes={own} now={healthMark(own[0].to_health)} from={from} to={to} axis={false} />
    </div>
  );
}

/** Components that changed, one strip each: the first six, the worst first. */
function Lanes({ groups, from, to }: { groups: ChangeGroup[]; from: number; to: number }) {
  const causes = new Map<string, ChangeGroup['cause']>();
  for (const g of [...groups].sort((a, b) => rank(healthMark(a.health)) - rank(healthMark(b.health))))
    causes.set(`${g.cause.kind} ${g.cause.id}`, g.cause);
  return (
    <section className="region" aria-label="Statuses over time">
      {[...causes].slice(0, 6).map(([key, cause]) => (
        <Lane key={key} cause={cause} from={from} to={to} />
      ))}
      <div className="lane" aria-hidden="true">
        <span />
        <TimeAxis from={from} to={to} label={(time) => dateTime(time).slice(0, -3)} />
      </div>
    </section>
  );
}

/**
 * The changes that match the filter. The list stays on the screen while `since` advances each minute. For another filter, give the
 * component another key: otherwise the list of the last filter would stay until the new one arrives.
 */
function Found({ filter, filtered, onClear }: { filter: ChangeFilter & { since: number }; filtered: boolean; onClear: () => void }) {
  const query = useQuery({ ...changeGroupsQuery({ ...filter, limit: 200 }), placeholderData: keepPreviousData });
  return (
    <Answer query={query} what="the history" padded>
      {({ groups, next_cursor }) => {
        if (groups.length === 0)
          return (
            <Empty padded title="Nothing changed" action={filtered ? <Button onClick={onClear}>Clear all</Button> : undefined}>
              No component changed its status in this time{filtered ? ' in a way that these filters match' : ''}.
            </Empty>
          );
        return (
          <>
            <Lanes groups={groups} from={filter.since} to={filter.until ?? Date.now()} />
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>When</th>
                    <th>What</th>
                    <th className="wide roomy">From</th>
                    <th className="wide">To</th>
                    <th className="wide">Why</th>
                  </tr>
                </thead>
                <tbody>
                  {[...groups]
                    .sort((a, b) => b.last_timestamp - a.last_timestamp)
                    .map((g) => (
                      <Group key={g.id} group={g} />
                    ))}
                </tbody>
              </table>
            </div>
            {next_cursor && <p className="region t3">These are the newest 200 causes: choose a shorter range or search.</p>}
          </>
        );
      }}
    </Answer>
  );
}

/** The status changes in a range of time, grouped by cause. */
export default function History() {
  const { search, change } = useAddress();
  const range: Range = choiceOf(ranges, search.range, '1d');
  const minute = 60_000;
  const until = search.to ? Number(search.to) || undefined : undefined;
  // Rounded down to a minute: with the exact time, each rendering would send another query.
  const since = Number(search.from) || Math.floor(((until ?? Date.now()) - ranges[range]) / minute) * minute;
  const filter = {
    since,
    ...(until ? { until } : {}),
    ...(search.kind ? { kind: search.kind } : {}),
    ...(search.id ? { id: search.id } : {}),
    ...(search.q ? { q: search.q } : {}),
    ...(search.status ? { status: search.status } : {}),
  };
  const clear = () => change({ q: undefined, kind: undefined, id: undefined, status: undefined, from: undefined, to: undefined });
  return (
    <Page title="History">
      <div className="toolbar">
        <SearchInput label="Search changes" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        <Select
          label="Kind"
          value={search.kind ?? ''}
          onChange={(kind) => change({ kind: kind || undefined, id: undefined })}
          options={[{ value: '', label: 'Every kind' }, ...allKinds.map((k) => ({ value: k as string, label: kindWords[k] }))]}
        />
        <Select
          label="Became"
          value={search.status ?? ''}
          onChange={(status) => change({ status: status || undefined })}
          options={[{ value: '', label: 'Became anything' }, ...statuses.map((s) => ({ value: s, label: `Became ${words(s)}` }))]}
        />
        <Segments<Range>
          label="Range"
          value={range}
          onChange={(r) => change({ range: r === '1d' ? undefined : r, from: undefined, to: undefined })}
          options={[
            { value: '1h', label: '1 hour' },
            { value: '1d', label: '1 day' },
            { value: '7d', label: '7 days' },
            { value: '30d', label: '30 days' },
          ]}
        />
        {search.id && (
          <Link className="link" to="/history">
            Every component
          </Link>
        )}
      </div>
      <Found
        key={JSON.stringify({ ...filter, since: search.from ?? range })} // not filter.since, which advances each minute
        filter={filter}
        filtered={!!(search.q || search.kind || search.status)}
        onClear={clear}
      />
    </Page>
  );
}
