import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../../frame/Page';
import { Mark } from '../../parts/marks';
import { Empty, Skeleton } from '../../parts/states';
import { count, plural, sentence, words } from '../../parts/text';
import { Time } from '../../parts/time';
import { Ledger } from '../../posture/overview/Ledger';
import { alertsQuery, changesQuery, rdsQuery, connectionServersQuery } from '../data';
import { everything, useComponents, type Component, type Components } from '../components';
import { certificateStatus, countBy, markOf, rank, worst } from '../status';
import { Breaks } from './Breaks';
import { problemsOf } from './problems';
import { ServerTiles } from './ServerTiles';
import '../../posture/overview/overview.css';
import './health.css';

const to = (c: Component) => `/${c.path}${c.kind === 'EVENT_DATABASE' ? '' : `/${encodeURIComponent(c.id)}`}`;

/** Components as rows: problems in words, the rest with their measure. */
function Rows({ of }: { of: Component[] }) {
  return (
    <ul className="health-rows">
      {[...of].sort((a, b) => rank(a.status) - rank(b.status) || a.name.localeCompare(b.name, 'en', { numeric: true })).map((c) => (
        <li key={c.id} className={c.status}>
          <Link to={to(c)}>
            <Mark name={c.status} label />
            <span className="grow">
              <span className="row tight"><span className="strong">{c.name}</span><span className="small t3 cut grow">{c.detail}</span><span>{c.measure}</span></span>
              {c.status !== 'ok' && c.reasons[0] && <span className="small why-line">{sentence(c.reasons[0])}</span>}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Many components as numbered tiles, those with a problem named below. */
function Tiles({ of, dense }: { of: Component[]; dense?: boolean }) {
  const sick = of.filter((c) => c.status === 'error' || c.status === 'warn');
  return (
    <>
      <div className={`tiles ${dense ? 'dense' : ''}`}>
        {of.map((c, i) => (
          <Link key={c.id} to={to(c)} className={`tile ${c.status}`} title={`${c.name}: ${c.word}`} aria-label={`${c.name}: ${c.word}`}>
            {c.status === 'ok' ? (/\d+$/.exec(c.name)?.[0] ?? String(i + 1)) : <Mark name={c.status} />}
          </Link>
        ))}
      </div>
      {sick.length > 0 && <Rows of={sick.slice(0, 3)} />}
    </>
  );
}

function Stage({ title, of, children }: { title: string; of: Component[]; children: ReactNode }) {
  const status = worst(of.map((c) => c.status).filter((s) => s !== 'off'));
  return (
    <section className="stage">
      <header className="stage-head">
        <span className={`stage-node ${status}`}><Mark name={status} label /></span>
        <div><h2>{title}</h2><p className="small t3">{countBy(of.map((c) => c.status)).ok} of {of.length} OK</p></div>
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
      <Stage title="Gateways" of={c.gateways}><Rows of={c.gateways} /></Stage>
      <Stage title="Connection servers" of={c.servers}><Tiles of={c.servers} /></Stage>
      <Stage title="Identity" of={identity}><Rows of={c.domains} /><hr /><Rows of={[...c.saml, ...c.sso]} /></Stage>
      <Stage title="Farms and RDS servers" of={c.farms}><Tiles of={c.farms} dense /><ServerTiles servers={servers} farms={c.farms} /></Stage>
      <Stage title="Virtual centers" of={c.centers}><Rows of={[...c.centers, ...c.composers]} /><h3 className="label beside-path">Beside the path</h3><Rows of={[...c.database, ...c.pods]} /></Stage>
    </div>
  );
}

function useFigures(c: Components) {
  const rds = useQuery(rdsQuery).data ?? [];
  const alerts = useQuery(alertsQuery).data ?? [];
  const certificates = (useQuery(connectionServersQuery).data ?? []).filter((s) => ['warn', 'error'].includes(certificateStatus(s.certificate)));
  const sessions = rds.reduce((n, s) => n + (s.session_count ?? 0), 0);
  const room = rds.reduce((n, s) => n + (s.details.max_sessions_count_configured ?? 0), 0);
  const bad = c.rds.filter((s) => s.status === 'error');
  const farms = countBy(c.farms.map((f) => f.status));
  const unknown = everything(c).filter((x) => x.status === 'unknown');
  return [
    { label: 'Sessions', value: sessions, to: '/rds-servers', detail: `of ${count(room)}, ${room ? Math.round((100 * sessions) / room) : 0} %` },
    { label: 'RDS servers in error', mark: bad.length ? 'error' : 'ok', value: bad.length, to: '/rds-servers', search: { status: 'error' }, detail: `of ${count(rds.length)}` },
    { label: 'Farms not OK', mark: worst(c.farms.map((f) => f.status).filter((s) => s !== 'off')), value: farms.error + farms.warn + farms.unknown, to: '/farms', search: { status: 'error' }, detail: `of ${c.farms.length}; ${farms.off} more are disabled` },
    { label: 'Certificates', mark: certificates.length ? 'warn' : 'ok', value: certificates.length, to: '/connection-servers', detail: 'end within 30 days' },
    { label: 'Alerts firing', mark: alerts.some((a) => a.state === 'FIRING') ? 'error' : 'ok', value: alerts.filter((a) => a.state === 'FIRING').length, to: '/alerts', detail: `${alerts.filter((a) => a.state === 'PENDING').length} pending` },
    { label: 'Unknown', mark: 'unknown', value: unknown.length, to: '/history', detail: unknown[0] ? `${unknown[0].name}: ${unknown[0].word}` : 'everything is known' },
  ] as const;
}

function Changes() {
  const changes = useQuery(changesQuery({ limit: 12 })).data?.changes ?? [];
  return (
    <section className="region">
      <header><h2>Changes</h2><Link className="end" to="/history">History</Link></header>
      {changes.length === 0 && <p className="t3">Nothing has changed yet.</p>}
      <ul className="list">
        {changes.map((c, i) => (
          <li key={i}><span className="t3 small change-time"><Time at={c.timestamp} as="clock" /></span><span className="cut grow">{c.name.split('.')[0]} <span className="small t3">{c.part}</span></span><span className={`word c-${markOf(c.to_status)}`}><Mark name={markOf(c.to_status)} />{words(c.to_status)}</span></li>
        ))}
      </ul>
    </section>
  );
}

/** Can people connect, and if not, where on the way does it break. */
export default function Health() {
  const c = useComponents();
  const figures = useFigures(c);
  const problems = problemsOf(c);
  return (
    <Page title="Health map" className="health">
      <Ledger figures={figures as never} />
      {c.loaded ? <Map c={c} /> : <div className="region"><Skeleton /></div>}
      <div className="cols health-below">
        <section className="region">
          <header><h2>What is wrong</h2><span className="end">{plural(problems.length, 'problem')}, worst first</span></header>
          {c.loaded && problems.length === 0 && <Empty title="Nothing is wrong">Every component answers as it should.</Empty>}
          <ul className="list problem-list" aria-live="polite">
            {problems.map((p) => (
              <li key={p.key}><Link className="row" to={p.to}><Mark name={p.status} label /><span className="grow"><span className="strong">{p.title}</span> <span className="small t3">{p.detail}</span><span className="small t2 block">{p.reason}</span></span></Link></li>
            ))}
          </ul>
        </section>
        <Changes />
        <Breaks />
      </div>
    </Page>
  );
}
