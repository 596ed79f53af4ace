import type { AlertGroup, ConnectionServer, Overview, RDSServer } from '../../api/desktop';
import type { MarkName } from '../../parts/marks';
import { count } from '../../parts/text';
import type { Figure } from '../../posture/overview/Ledger';
import { sessionLimit } from '../counts';
import { everything, type Components } from '../components';
import { expiresSoon } from '../status';

/** What the figures are counted from. */
interface Sources {
  components: Components;
  /** Each of the others is undefined until it has been read. */
  overview: Overview | undefined;
  servers: ConnectionServer[] | undefined;
  rds: RDSServer[] | undefined;
  alerts: AlertGroup[] | undefined;
}

/** The mark of a count of problems: `bad` if there are any, and unknown if the count is unknown. */
const markOfCount = (n: number | undefined, bad: MarkName): MarkName => (n === undefined ? 'unknown' : n > 0 ? bad : 'ok');

/** The figures above the map. A figure whose source has not been read has no value. */
export function figuresOf({ components: c, overview, servers, rds, alerts }: Sources): Figure[] {
  const expiring = servers?.filter((s) => expiresSoon(s.certificate)).length;
  const maxSessions = rds && sessionLimit(rds);
  const sessions = overview?.sessions.rds_sessions;
  const kind = (name: string) => overview?.kinds.find((k) => k.kind === name);
  const serversInError = overview && (kind('RDS_SERVER')?.health.ERROR ?? 0);
  const farms = kind('FARM')?.health ?? {};
  const farmsNotOK = overview && (farms.ERROR ?? 0) + (farms.WARNING ?? 0) + (farms.UNKNOWN ?? 0);
  const unknown = everything(c).filter((x) => x.status === 'unknown');
  const firing = alerts?.filter((g) => g.state === 'FIRING');
  return [
    {
      label: 'Sessions',
      value: sessions,
      to: '/rds-servers',
      detail: maxSessions
        ? `of ${count(maxSessions)}${sessions === undefined ? '' : `, ${Math.round((100 * sessions) / maxSessions)} %`}`
        : ' ',
    },
    {
      label: 'RDS servers in error',
      mark: markOfCount(serversInError, 'error'),
      value: serversInError,
      to: '/rds-servers',
      search: { status: 'error' },
      detail: overview ? `of ${count(kind('RDS_SERVER')?.total ?? 0)}` : ' ',
    },
    {
      label: 'Farms not OK',
      mark: markOfCount(farmsNotOK, farms.ERROR ? 'error' : 'warn'),
      value: farmsNotOK,
      to: '/farms',
      search: { status: farms.ERROR ? 'error' : farms.WARNING ? 'warn' : undefined },
      detail: overview ? `of ${count(kind('FARM')?.total ?? 0)}; ${count(farms.DISABLED ?? 0)} more are disabled` : ' ',
    },
    {
      label: 'Certificates',
      mark: markOfCount(expiring, 'warn'),
      value: expiring,
      to: '/connection-servers',
      detail: 'expire within 30 days',
    },
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
