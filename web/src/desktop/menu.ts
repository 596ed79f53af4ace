import { useQuery } from '@tanstack/react-query';
import type { Kind } from '../api/desktop';
import type { MenuGroup, MenuItem } from '../frame/Navigation';
import type { IconName } from '../parts/Icon';
import { alertGroupsQuery, overviewQuery } from './data';
import { useServerPulse } from './pulse';

/** The navigation. An item counts the components with a problem; if none has one, it counts all. */
export function useMenu(): MenuGroup[] {
  useServerPulse();
  const overview = useQuery(overviewQuery).data;
  const firing = useQuery(alertGroupsQuery).data?.filter((a) => a.state === 'FIRING').length;
  const item = (to: string, icon: IconName, label: string, kind: Kind): MenuItem => {
    const known = overview?.kinds.find((k) => k.kind === kind);
    const bad = (known?.health.ERROR ?? 0) + (known?.health.WARNING ?? 0);
    return { to, icon, label, count: bad || known?.total || undefined, bad: bad > 0 };
  };
  return [
    {
      items: [
        { to: '/health', icon: 'health', label: 'Health map', count: overview?.problems.length, bad: true },
        { to: '/alerts', also: '/alert-rules', icon: 'bell', label: 'Alerts', count: firing, bad: true },
        { to: '/history', icon: 'history', label: 'History' },
      ],
    },
    {
      title: 'Way in',
      items: [
        item('/gateways', 'gateway', 'Gateways', 'GATEWAY'),
        item('/connection-servers', 'server', 'Connection servers', 'CONNECTION_SERVER'),
        item('/pods', 'pod', 'Remote pods', 'POD'),
      ],
    },
    {
      title: 'Identity',
      items: [
        item('/domains', 'domain', 'Domains', 'AD_DOMAIN'),
        item('/saml', 'saml', 'SAML', 'SAML_AUTHENTICATOR'),
        item('/true-sso', 'key', 'Single sign-on', 'TRUE_SSO'),
        { to: '/domain-accounts', icon: 'idcard', label: 'Domain accounts' },
      ],
    },
    {
      title: 'Desktops',
      items: [
        item('/farms', 'farm', 'Farms', 'FARM'),
        item('/rds-servers', 'host', 'RDS servers', 'RDS_SERVER'),
        item('/virtual-centers', 'vcenter', 'Virtual centers', 'VIRTUAL_CENTER'),
        item('/composers', 'composer', 'Composers', 'COMPOSER'),
        { to: '/event-database', icon: 'db', label: 'Event database' },
      ],
    },
    {
      title: 'Run',
      items: [
        { to: '/machines', icon: 'agent', label: 'Machines' },
        { to: '/admin', icon: 'admin', label: 'Admin' },
      ],
    },
  ];
}
