import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, useEffect, type ReactNode } from 'react';
import type { Overview } from '../../api/desktop';
import { Page } from '../../frame/Page';
import { walkWithArrows } from '../../parts/arrows';
import { Button } from '../../parts/Button';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Answer, Empty, Failure, Skeleton } from '../../parts/states';
import { count, plural, sentence, words } from '../../parts/text';
import { isWithinDay, Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { Ledger, type Figure } from '../../posture/overview/Ledger';
import { alertGroupsQuery, changeGroupsQuery, connectionServersQuery, overviewQuery, rdsQuery, setPaused, usePaused } from '../data';
import { addressOf, byStatus, everything, shortName, useComponents, type Component, type Components } from '../components';
import { countBy, endsSoon, healthMark, worst } from '../status';
import { Breaks } from './Breaks';
import { problemsOf } from './problems';
import { ServerTiles } from './ServerTiles';
import '../../posture/overview/overview.css';
import './health.css';

const to = (c: Component) => addressOf(c.kind, c.id);

/** A name that may break after its dots, so that the name of a domain does not break within a word. */
const Breakable = ({ name }: { name: string }) =>
  name.split(/(?<=\.)/).map((part, i) => (
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {part}
    </Fragment>
  ));

/** Components as rows, the worst first, with their measure; those that are not OK also with the reason. */
function Rows({ of }: { of: Component[] }) {
  return (
    <ul className="health-rows">
      {[...of].sort(byStatus).map((c) => (
        <li key={c.id} className={c.status}>
          <Link to={to(c)}>
            <Mark name={c.status} label />
            <span className="grow">
              <span className="row tight health-line">
                <span className="health-names grow">
                  <span className="strong" title={c.name}>
                    <Breakable name={c.name} />
                  </span>
                  {!(c.status === 'unknown' && c.reasons[0]) && <span className="small t3">{c.detail}</span>}
                </span>
                <span className="nowrap">{c.measure}</span>
              </span>
              {c.status !== 'ok' && c.reasons[0] && <span className="small why-line">{sentence(c.reasons[0])}</span>}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Many components as numbered tiles. Below them, the worst three of those with a problem by name. */
function Tiles({ of, dense, children }: { of: Component[]; dense?: boolean; children?: ReactNode }) {
  const sick = of.filter((c) => c.status === 'error' || c.status === 'warn').sort(byStatus);
  return (
    <>
      <div className={`tiles ${dense ? 'dense' : ''}`}>
        {of.map((c, i) => (
          <Link key={c.id} to={to(c)} className={`tile ${c.status}`} title={`${c.name}: ${c.word}`} aria-label={`${c.name}: ${c.word}`}>
            {c.status === 'ok' ? (/\d+$/.exec(c.name)?.[0] ?? String(i + 1)) : <Mark name={c.status} />}
          </Link>
        ))}
      </div>
      {children}
      {sick.length > 0 && <Rows of={sick.slice(0, 3)} />}
      {sick.length > 3 && <p className="small t3">and {sick.length - 3} more with a problem</p>}
    </>
  );
}

/** What the connection servers have in common: replication, secure gateways, and how busy the busiest is. */
function ServerFacts() {
  const all = useQuery(connectionServersQuery).data ?? [];
  const pairs = all.flatMap((s) => s.cs_replications ?? []);
  const services = all.flatMap((s) => s.services ?? []);
  const busiest = [...all].sort((a, b) => (b.connection_count ?? 0) - (a.connection_count ?? 0))[0];
  if (!busiest) return null;
  const facts: [string, string][] = [
    ...(pairs.length
      ? [['Replication', `${count(pairs.filter((p) => p.status === 'OK').length)} of ${count(pairs.length)} pairs`] as [string, string]]
      : []),
    ...(services.length
      ? [['Services', `${count(services.filter((s) => s.status === 'UP').length)} of ${count(services.length)} up`] as [string, string]]
      : []),
    [
      'Busiest',
      `${count(busiest.connection_count ?? 0)}${busiest.session_threshold ? ` of ${count(busiest.session_threshold)}` : ' connections'}`,
    ],
  ];
  return (
    <dl className="kv small">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Stage({ title, of, children }: { title: string; of: Component[]; children: ReactNode }) {
  const status = worst(of.map((c) => c.status).filter((s) => s !== 'off'));
  return (
    <section className="stage">
      <header className="stage-head">
        <span className={`stage-node ${status}`}>
          <Mark name={status} label />
        </span>
        <div>
          <h2>{title}</h2>
          <p className="small t3">
            {countBy(of.map((c) => c.status)).ok} of {of.length} OK
          </p>
        </div>
      </header>
      {children}
    </section>
  );
}

function Map({ c }: { c: Components }) {
  const servers = useQuery(rdsQuery).data ?? [];
  const identity = [...c.domains, ...c.saml, ...c.sso];
  return (
    <div className="health-map">
      <Stage title="Gateways" of={c.gateways}>
        <Rows of={c.gateways} />
      </Stage>
      <Stage title="Connection servers" of={c.servers}>
        <Tiles of={c.servers} />
        <ServerFacts />
      </Stage>
      <Stage title="Identity" of={identity}>
        <Rows of={c.domains} />
        <hr />
        <Rows of={[...c.saml, ...c.sso]} />
      </Stage>
      <Stage title="Farms and RDS servers" of={c.farms}>
        <Tiles of={c.farms} dense>
          <ServerTiles servers={servers} farms={c.farms} />
        </Tiles>
      </Stage>
      <Stage title="Virtual centers" of={c.centers}>
        <Rows of={[...c.centers, ...c.composers]} />
        <h3 className="label beside-path">Beside the path</h3>
        <Rows of={[...c.database, ...c.pods]} />
      </Stage>
    </div>
  );
}

function useFigures(c: Components, overview: Overview | undefined): Figure[] {
  const rds = useQuery(rdsQuery).data;
  const groups = useQuery(alertGroupsQuery).data;
  const servers = useQuery(connectionServersQuery).data;
  const ending = servers?.filter((s) => endsSoon(s.certificate)).length;
  const room = rds?.reduce((n, s) => n + (s.details.max_sessions_count_configured ?? 0), 0) ?? 0;
  const sessions = overview?.sessions.rds_sessions;
  const kind = (name: string) => overview?.kinds.find((k) => k.kind === name);
  const bad = kind('RDS_SERVER')?.health.ERROR ?? 0;
  const farms = kind('FARM')?.health ?? {};
  const sick = (farms.ERROR ?? 0) + (farms.WARNING ?? 0) + (farms.UNKNOWN ?? 0);
  const unknown = everything(c).filter((x) => x.status === 'unknown');
  const firing = groups?.filter((g) => g.state === 'FIRING');
  return [
    {
      label: 'Sessions',
      value: sessions,
      to: '/rds-servers',
      detail: room ? `of ${count(room)}, ${Math.round((100 * (sessions ?? 0)) / room)} %` : ' ',
    },
    {
      label: 'RDS servers in error',
      mark: bad ? 'error' : 'ok',
      value: overview && bad,
      to: '/rds-servers',
      search: { status: 'error' },
      detail: `of ${count(kind('RDS_SERVER')?.total ?? 0)}`,
    },
    {
      label: 'Farms not OK',
      mark: sick ? (farms.ERROR ? 'error' : 'warn') : 'ok',
      value: overview && sick,
      to: '/farms',
      search: { status: farms.ERROR ? 'error' : farms.WARNING ? 'warn' : undefined },
      detail: `of ${count(kind('FARM')?.total ?? 0)}; ${farms.DISABLED ?? 0} more are disabled`,
    },
    { label: 'Certificates', mark: ending ? 'warn' : 'ok', value: ending, to: '/connection-servers', detail: 'end within 30 days' },
    {
      label: 'Alerts firing',
      mark: firing?.length ? 'error' : 'ok',
      value: firing?.length,
      to: '/alerts',
      detail: `${count(firing?.reduce((n, g) => n + g.count, 0) ?? 0)} before grouping`,
    },
    {
      label: 'Unknown',
      mark: 'unknown',
      value: c.complete ? unknown.length : undefined,
      to: '/history',
      search: { status: 'UNKNOWN' },
      detail: unknown[0] ? `${unknown[0].name}: ${unknown[0].word}` : c.complete ? 'everything is known' : 'not every list was read',
    },
  ];
}

function Changes() {
  const query = useQuery(changeGroupsQuery({ limit: 9 }));
  return (
    <section className="region">
      <header>
        <h2>Changes</h2>
        <Link className="end" to="/history">
          History
        </Link>
      </header>
      <Answer query={query} what="the history">
        {({ groups }) => (
          <>
            {groups.length === 0 && <p className="t3">Nothing has changed yet.</p>}
            <ul className="list">
              {groups.map((g) => {
                const last = g.changes.at(-1);
                const mark = healthMark(g.health);
                return (
                  <li key={g.id}>
                    <Link className="row" to="/history" search={{ q: g.cause.name } as never}>
                      <span className="t3 small change-time">
                        <Time at={g.last_timestamp} as={isWithinDay(g.last_timestamp) ? 'clock' : 'ago'} />
                      </span>
                      <span className="cut grow">
                        {shortName(g.cause)} <span className="small t3">{g.count > 1 ? `${g.count} changes` : last?.part}</span>
                      </span>
                      <span className={`word c-${mark}`}>
                        <Mark name={mark} />
                        {words(last?.to_status ?? g.health)}
                      </span>
                    </Link>
                  </li>
                );
              })}
            </ul>
          </>
        )}
      </Answer>
    </section>
  );
}

function Problems({ query }: { query: UseQueryResult<Overview> }) {
  const total = query.data?.problems.length;
  return (
    <section className="region">
      <header>
        <h2>What is wrong</h2>
        {total !== undefined && <span className="end">{plural(total, 'problem')}, worst first</span>}
      </header>
      <Answer query={query} what="the overview">
        {(overview) =>
          overview.problems.length === 0 ? (
            <Empty title="Nothing is wrong">Every component answers as it should.</Empty>
          ) : (
            <ul className="list problem-list" aria-live="polite">
              {problemsOf(overview.problems).map((p) => (
                <li key={p.key}>
                  <Link className="row" to={p.to}>
                    <Mark name={p.status} label />
                    <span className="grow">
                      <span className="strong">{p.title}</span> <span className="small t3">{p.detail}</span>
                      <span className="small t2 block">{p.reason}</span>
                    </span>
                    {p.since && (
                      <span className="small t3 wide">
                        since <Time at={p.since} as={isWithinDay(p.since) ? 'clock' : 'date'} />
                      </span>
                    )}
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </section>
  );
}

/** Whether people can connect, and if not, which stage of the path to a desktop fails. */
export default function Health() {
  const c = useComponents();
  const overview = useQuery(overviewQuery);
  const figures = useFigures(c, overview.data);
  const paused = usePaused();
  useEffect(() => () => setPaused(false), []);
  useKeys([
    {
      keys: 'p',
      does: 'Pause or go on',
      run: () => {
        setPaused(!paused);
        showToast(paused ? 'Looking every 15 s again' : 'Paused: the screen stands still');
      },
    },
  ]);
  const refused = overview.data?.inventory.refused;
  return (
    <Page
      title="Health map"
      className="health"
      actions={
        <Button look="quiet" icon={paused ? 'play' : 'history'} className="wide" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? 'Paused' : 'Pause'}
        </Button>
      }
    >
      {refused && (
        <div className="region">
          <div className="note warn">
            <Mark name="warn" />
            <span>
              <b>The inventory file has errors; the last good one is in use.</b> {sentence(refused.message)}
            </span>
          </div>
        </div>
      )}
      <Ledger figures={figures} />
      {c.loaded ? (
        <div onKeyDown={walkWithArrows}>
          <Map c={c} />
        </div>
      ) : c.error ? (
        <Failure padded error={c.error} what="the map" onRetry={c.retry} />
      ) : (
        <div className="region">
          <Skeleton />
        </div>
      )}
      <div className="cols health-below">
        <Problems query={overview} />
        <Changes />
        <Breaks />
      </div>
    </Page>
  );
}
