import { useQuery } from '@tanstack/react-query';
import type { IconName } from '../parts/Icon';
import type { MenuGroup, MenuItem } from '../frame/Navigation';
import { agentsQuery, alertsQuery } from './data';
import { everything, useComponents, type Component } from './components';

/** Counts what has a problem; where nothing has one, how many there are. */
function item(to: string, icon: IconName, label: string, components: Component[]): MenuItem {
  const bad = components.filter((c) => c.status === 'error' || c.status === 'warn').length;
  return { to, icon, label, count: bad || components.length || undefined, bad: bad > 0 };
}

export function useMenu(): MenuGroup[] {
  const c = useComponents();
  const firing = useQuery(alertsQuery).data?.filter((a) => a.state === 'FIRING').length;
  const agents = useQuery(agentsQuery).data?.length;
  const bad = everything(c).filter((x) => x.kind !== 'RDS_SERVER' && x.status === 'error').length;
  return [
    { items: [{ to: '/health', icon: 'health', label: 'Health map', count: bad, bad: true }, { to: '/alerts', icon: 'bell', label: 'Alerts', count: firing, bad: true }, { to: '/history', icon: 'history', label: 'History' }] },
    { title: 'Way in', items: [item('/gateways', 'gateway', 'Gateways', c.gateways), item('/connection-servers', 'server', 'Connection servers', c.servers), item('/pods', 'pod', 'Remote pods', c.pods)] },
    { title: 'Identity', items: [item('/domains', 'domain', 'Domains', c.domains), item('/saml', 'saml', 'SAML', c.saml), item('/true-sso', 'key', 'Single sign-on', c.sso), { to: '/domain-accounts', icon: 'idcard', label: 'Domain accounts' }] },
    { title: 'Desktops', items: [item('/farms', 'farm', 'Farms', c.farms), item('/rds-servers', 'host', 'RDS servers', c.rds), item('/virtual-centers', 'vcenter', 'Virtual centers', c.centers), item('/composers', 'composer', 'Composers', c.composers), { to: '/event-database', icon: 'db', label: 'Event database' }] },
    { title: 'Run', items: [{ to: '/machines', icon: 'agent', label: 'Machines', count: agents }, { to: '/admin', icon: 'admin', label: 'Admin' }] },
  ];
}
