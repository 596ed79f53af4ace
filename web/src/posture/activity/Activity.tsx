import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Finding } from '../../api/posture';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Mark, severity } from '../../parts/marks';
import { Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { shortType } from '../../parts/text';
import { day, Time } from '../../parts/time';
import { accountsQuery, findingsQuery, useAccountNames, useRules } from '../data';
import { resourceName } from '../findings/FindingRow';
import './activity.css';

interface Event {
  at: string;
  what: 'raised' | 'resolved';
  finding: Finding;
}

/** Findings as events: each was raised, and may have been resolved. Newest first. */
export function eventsOf(findings: Finding[]): Event[] {
  return findings
    .flatMap((finding): Event[] => [
      { at: finding.creationTime, what: 'raised', finding },
      ...(finding.resolvedTime ? [{ at: finding.resolvedTime, what: 'resolved' as const, finding }] : []),
    ])
    .sort((a, b) => b.at.localeCompare(a.at));
}

function Histogram({ events }: { events: Event[] }) {
  const hours = new Map<string, { raised: number; resolved: number }>();
  for (const e of events) {
    const hour = e.at.slice(0, 13);
    const known = hours.get(hour) ?? { raised: 0, resolved: 0 };
    known[e.what]++;
    hours.set(hour, known);
  }
  const bars = [...hours].sort(([a], [b]) => a.localeCompare(b)).slice(-72);
  const most = Math.max(1, ...bars.flatMap(([, n]) => [n.raised, n.resolved]));
  return (
    <figure className="region activity-chart">
      <svg
        viewBox={`0 0 ${Math.max(bars.length, 24) * 14} 72`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Findings raised and resolved per hour, ${bars.length} hours with a change`}
      >
        <line x1="0" x2="100%" y1="44" y2="44" className="gl-strong" />
        {bars.map(([hour, n], i) => (
          <g key={hour}>
            <rect className="bar-new" x={i * 14 + 2} width="10" y={44 - (n.raised * 40) / most} height={(n.raised * 40) / most} rx="1" />
            <rect className="bar-resolved" x={i * 14 + 2} width="10" y="44" height={(n.resolved * 26) / most} rx="1" />
          </g>
        ))}
      </svg>
      <figcaption className="small t3">
        Raised above the line, resolved below it; only hours with a change{bars[0] ? `, since ${day(`${bars[0][0]}:00:00Z`)}` : ''}.
      </figcaption>
    </figure>
  );
}

/** Findings raised and resolved, newest first. */
export default function Activity() {
  const { search, change } = useAddress();
  const accounts = useQuery(accountsQuery).data ?? [];
  const accountName = useAccountNames();
  const rules = useRules();
  const query = useQuery(
    findingsQuery({
      filters: search.account ? { cloudAccountIds: [search.account] } : {},
      sorts: [{ fieldName: 'lastUpdateTime', order: 'desc' }],
      paginationInfo: { pageSize: 500 },
    }),
  );
  return (
    <Page title="Activity" beside={<span className="t3 wide">findings raised and resolved</span>}>
      <div className="toolbar">
        <Select
          label="Account"
          value={search.account ?? ''}
          onChange={(a) => change({ account: a || undefined })}
          options={[{ value: '', label: 'All accounts' }, ...accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName }))]}
        />
      </div>
      <Answer query={query} what="the activity" padded>
        {(page) => {
          const events = eventsOf(page.results);
          if (events.length === 0)
            return (
              <Empty padded title="Nothing has happened yet">
                No finding was raised or resolved.
              </Empty>
            );
          return (
            <>
              <Histogram events={events} />
              <div className="table-scroll">
                <table className="table">
                  <thead>
                    <tr>
                      <th>When</th>
                      <th>What</th>
                      <th>Rule</th>
                      <th className="wide">Resource</th>
                      <th className="wide">Account</th>
                    </tr>
                  </thead>
                  <tbody>
                    {events.slice(0, 300).map((e) => (
                      <tr key={`${e.finding.id}${e.what}`}>
                        <td className="t3">
                          <Time at={e.at} as="date" />
                        </td>
                        <td>
                          {e.what === 'raised' ? (
                            <span className={`word c-${severity(e.finding.level, e.finding.riskScore)}`}>
                              <Mark name={severity(e.finding.level, e.finding.riskScore)} />
                              raised
                            </span>
                          ) : (
                            <span className="word c-pass">
                              <Mark name="pass" />
                              resolved
                            </span>
                          )}
                        </td>
                        <th scope="row">
                          <Link
                            to="/findings"
                            search={{ f: e.finding.id, ...(e.finding.status === 'Resolved' ? { status: 'resolved' } : {}) } as never}
                          >
                            {rules.get(e.finding.ruleId)?.name ?? e.finding.ruleId}
                          </Link>
                        </th>
                        <td className="wide">
                          <Link to={`/resource/${encodeURIComponent(e.finding.entityId)}`}>{resourceName(e.finding)}</Link>{' '}
                          <span className="t3">{shortType(e.finding.objectType)}</span>
                        </td>
                        <td className="wide t2">{accountName(e.finding.cloudAccountId)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            </>
          );
        }}
      </Answer>
    </Page>
  );
}
