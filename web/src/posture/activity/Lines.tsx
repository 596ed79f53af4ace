import { Link } from '@tanstack/react-router';
import type { EntityChange } from '../../api/posture';
import { useState } from 'react';
import { Button } from '../../parts/Button';
import { Icon } from '../../parts/Icon';
import { Mark, severity } from '../../parts/marks';
import { count, plural, shortType } from '../../parts/text';
import { Time } from '../../parts/time';
import { useAccountNames, useRules } from '../data';
import { resourceName } from '../findings/FindingRow';
import { differences } from '../resource/changes';
import { actorName } from './actor';
import type { Event } from './events';

const words = { ADD: 'Added', UPDATE: 'Changed', DELETE: 'Deleted' } as const;
const icons = { ADD: 'plus', UPDATE: 'activity', DELETE: 'x' } as const;
const sources = { Event: 'event', Collection: 'collection' } as const;
const causes = { Event: 'by an event', Collection: 'found by a collection' } as const;

/** What is different, in one line; all of it on hover. */
function Difference({ change }: { change: EntityChange }) {
  const lines = differences(change);
  const first = lines[0];
  if (change.changeType !== 'UPDATE' || !first) return <span className="t3">–</span>;
  const all = lines.map((l) => `${l.name}: ${l.before ?? '–'} → ${l.after ?? '–'}`).join('\n');
  return (
    <span className="diff-line" title={all}>
      <span className="mono">{first.name}</span>
      <span>
        {first.before !== undefined && <del className="mono">{first.before}</del>}
        {first.after !== undefined && (
          <>
            {' → '}
            <ins className="mono">{first.after}</ins>
          </>
        )}
      </span>
      {lines.length > 1 && <span className="t3">+{lines.length - 1}</span>}
    </span>
  );
}

function ChangeRow({ at, change, raised }: Extract<Event, { what: 'change' }>) {
  const accountName = useAccountNames();
  return (
    <tr>
      <td className="t3">
        <Time at={at} as="date" />
      </td>
      <td className="activity-what">
        <span className="word" title={causes[change.cause]}>
          <Icon name={icons[change.changeType]} small />
          {words[change.changeType]}
        </span>
      </td>
      <th scope="row">
        <Link to={`/resource/${encodeURIComponent(change.entityId)}`} search={{ tab: 'changes' } as never}>
          {change.entityName}
        </Link>{' '}
        <span className="t3">{shortType(change.entityType)}</span>
        {raised[0] && (
          <Link
            className="small c-high"
            to="/findings"
            search={{ f: raised[0].id, status: raised[0].status === 'Resolved' ? 'resolved' : undefined } as never}
          >
            {' '}
            raised {plural(raised.length, 'finding')}
          </Link>
        )}
      </th>
      <td className="wide">
        <Difference change={change} />
      </td>
      <td
        className="wide roomy small t2 activity-who"
        title={[change.actor ?? causes[change.cause], change.operation].filter(Boolean).join('\n')}
      >
        {change.actor ? actorName(change.actor) : <span className="t3">{sources[change.cause]}</span>}
        {change.operation && <span className="t3"> · {change.operation}</span>}
      </td>
      <td className="wide roomy t2 nowrap">{accountName(change.cloudAccountId)}</td>
    </tr>
  );
}

function FindingRow({ at, what, finding }: Extract<Event, { what: 'raised' | 'resolved' }>) {
  const accountName = useAccountNames();
  const rules = useRules();
  const mark = what === 'raised' ? severity(finding.level, finding.riskScore) : 'pass';
  return (
    <tr>
      <td className="t3">
        <Time at={at} as="date" />
      </td>
      <td className="activity-what">
        <span className={`word c-${mark}`}>
          <Mark name={mark} />
          {what === 'raised' ? 'Raised' : 'Resolved'}
        </span>
      </td>
      <th scope="row">
        <Link to="/findings" search={{ f: finding.id, ...(finding.status === 'Resolved' ? { status: 'resolved' } : {}) } as never}>
          {rules.get(finding.ruleId)?.name ?? finding.ruleId}
        </Link>
      </th>
      <td className="wide">
        <Link to={`/resource/${encodeURIComponent(finding.entityId)}`}>{resourceName(finding)}</Link>{' '}
        <span className="t3">{shortType(finding.objectType)}</span>
      </td>
      <td className="wide roomy t3">–</td>
      <td className="wide roomy t2 nowrap">{accountName(finding.cloudAccountId)}</td>
    </tr>
  );
}

/** How many lines are drawn at first, and how many more at a time: many lines make the page slow while changes arrive. */
const step = 200;

/** Changes and findings, newest first. */
export function Lines({ events }: { events: Event[] }) {
  const [shown, setShown] = useState(step);
  return (
    <div className="table-scroll">
      <table className="table activity">
        <thead>
          <tr>
            <th>When</th>
            <th>What</th>
            <th>Resource or rule</th>
            <th className="wide">Difference or resource</th>
            <th className="wide roomy">Who or what</th>
            <th className="wide roomy">Account</th>
          </tr>
        </thead>
        <tbody>
          {events
            .slice(0, shown)
            .map((e) =>
              e.what === 'change' ? (
                <ChangeRow key={`${e.change.entityId}${e.at}${e.change.changeType}`} {...e} />
              ) : (
                <FindingRow key={`${e.finding.id}${e.what}${e.at}`} {...e} />
              ),
            )}
        </tbody>
      </table>
      {events.length > shown && (
        <div className="region">
          <Button onClick={() => setShown(shown + step)}>Show more of {count(events.length)}</Button>
        </div>
      )}
    </div>
  );
}
