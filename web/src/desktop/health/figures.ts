import type { AlertGroup, ConnectionServer, Overview, RDSServer } from '../../api/desktop';
import type { MarkName } from '../../parts/marks';
import { count } from '../../parts/text';
import type { Figure } from '../../posture/overview/Ledger';
import { everything, type Components } from '../components';
import { endsSoon } from '../status';

interface Known {
  components: Components;
  /** The rest is undefined until it was read. */
  overview: Overview | undefined;
  servers: ConnectionServer[] | undefined;
  rds: RDSServer[] | undefined;
  alerts: AlertGroup[] | undefined;
}

/** The mark of a count; unknown if what is counted was not read. */
const markOfCount = (n: number | undefined, bad: MarkName): MarkName => (n === undefined ? 'unknown' : n > 0 ? bad : 'ok');

/** The figures above the map. Of what was not read they claim nothing. */
export function figuresOf({ components: c, overview, servers, rds, alerts }: Known): Figure[] {
  const ending = servers?.filter((s) => endsSoon(s.certificate)).length;
  const room = rds?.reduce((n, s) => n + (s.details.max_sessions_count_configured ?? 0), 0) ?? 0;
  const sessions = overview?.sessions.rds_sessions;
  const kind = (name: string) => overview?.kinds.find((k) => k.kind === name);
  const bad = overview && (kind('RDS_SERVER')?.health.ERROR ?? 0);
  const farms = kind('FARM')?.health ?? {};
  const sick = overview && (farms.ERROR ?? 0) + (farms.WARNING ?? 0) + (farms.UNKNOWN ?? 0);
  const unknown = everything(c).filter((x) => x.status === 'unknown');
  const firing = alerts?.filter((g) => g.state === 'FIRING');
  return [
    {
      label: 'Sessions',
      value: sessions,
      to: '/rds-servers',
      detail: room ? `of ${count(room)}${sessions === undefined ? '' : `, ${Math.round((100 * sessions) / room)} %`}` : ' ',
    },
    {
      label: 'RDS servers in error',
      mark: markOfCount(bad, 'error'),
      value: bad,
      to: '/rds-servers',
      search: { status: 'error' },
      detail: overview ? `of ${count(kind('RDS_SERVER')?.total ?? 0)}` : ' ',
    },
    {
      label: 'Farms not OK',
      mark: markOfCount(sick, farms.ERROR ? 'error' : 'warn'),
      value: sick,
      to: '/farms',
      search: { status: farms.ERROR ? 'error' : farms.WARNING ? 'warn' : undefined },
      detail: overview ? `of ${count(kind('FARM')?.total ?? 0)}; ${count(farms.DISABLED ?? 0)} more are disabled` : ' ',
    },
    { label: 'Certificates', mark: markOfCount(ending, 'warn'), value: ending, to: '/connection-servers', detail: 'end within 30 days' },
    {
      label: 'Alerts firing',
      mark: markOfCount(firing?.length, 'error'),
      value: firing?.length,
      to: '/alerts',
      detail: firing ? `${count(firing.reduce((n, g) => n + g.count, 0))} before grouping` : ' ',
    },
    {
      label: 'Unknown',
      mark: 'unknown',
      value: c.complete ? unknown.length : undefined,
      to: '/history',
      search: { status: 'UNKNOWN' },
      detail: unknown[0]
        ? `${unknown[0].name}: ${unknown[0].word}`
        : c.complete
          ? 'everything is known'
          : c.error
            ? 'not every list was read'
            : ' ',
    },
  ];
}
