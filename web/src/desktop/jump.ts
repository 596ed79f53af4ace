import { desktop } from '../api/desktop';
import type { Target } from '../frame/JumpBox';

/** Components whose name matches. */
export async function jumpTargets(text: string): Promise<Target[]> {
  const [gateways, servers, farms, rds, centers] = await Promise.all([
    desktop.get('/rest/monitor/gateways'),
    desktop.get('/rest/monitor/connection-servers'),
    desktop.get('/rest/monitor/farms'),
    desktop.get('/rest/monitor/rds-servers'),
    desktop.get('/rest/monitor/virtual-centers'),
  ]);
  const found = (items: { id: string; name: string }[], icon: Target['icon'], path: string, detail: string) =>
    items
      .filter((i) => i.name.toLowerCase().includes(text.toLowerCase()))
      .slice(0, 8)
      .map((i): Target => ({ group: detail, icon, label: i.name, detail, to: `/${path}/${encodeURIComponent(i.id)}` }));
  return [
    ...found(gateways, 'gateway', 'gateways', 'Gateway'),
    ...found(servers, 'server', 'connection-servers', 'Connection server'),
    ...found(farms, 'farm', 'farms', 'Farm'),
    ...found(rds, 'host', 'rds-servers', 'RDS server'),
    ...found(centers, 'vcenter', 'virtual-centers', 'Virtual center'),
  ];
}
