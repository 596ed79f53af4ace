import { desktop } from '../api/desktop';
import type { Target } from '../frame/JumpBox';
import { sentence } from '../parts/text';
import {
  addressOf,
  fromCenter,
  fromComposer,
  fromConnectionServer,
  fromDomain,
  fromFarm,
  fromGateway,
  fromPod,
  fromRDS,
  fromSAML,
  fromSSO,
  kindWords,
  type Component,
} from './components';

/** How many components of a kind are offered. */
const most = 8;

/** Components whose name matches. */
export async function jumpTargets(text: string): Promise<Target[]> {
  const lists = await Promise.all([
    desktop.get('/rest/monitor/gateways').then((all) => all.map(fromGateway)),
    desktop.get('/rest/monitor/connection-servers').then((all) => all.map(fromConnectionServer)),
    desktop.get('/rest/monitor/farms').then((all) => all.map(fromFarm)),
    desktop.get('/rest/monitor/rds-servers').then((all) => all.map(fromRDS)),
    desktop.get('/rest/monitor/virtual-centers').then((all) => all.map(fromCenter)),
    desktop.get('/rest/monitor/ad-domains').then((all) => all.map(fromDomain)),
    desktop.get('/rest/monitor/v1/pods').then((all) => all.map(fromPod)),
    desktop.get('/rest/monitor/saml-authenticators').then((all) => all.map(fromSAML)),
    desktop.get('/rest/monitor/v1/true-sso').then((all) => all.map(fromSSO)),
    desktop.get('/rest/monitor/desktop-composers').then((all) => all.map(fromComposer)),
  ]);
  const icons: Partial<Record<Component['kind'], Target['icon']>> = {
    GATEWAY: 'gateway',
    CONNECTION_SERVER: 'server',
    FARM: 'farm',
    RDS_SERVER: 'host',
    VIRTUAL_CENTER: 'vcenter',
    AD_DOMAIN: 'domain',
    POD: 'pod',
    SAML_AUTHENTICATOR: 'saml',
    TRUE_SSO: 'key',
    COMPOSER: 'composer',
  };
  const lower = text.toLowerCase();
  return lists.flatMap((all) =>
    all
      .filter((c) => c.name.toLowerCase().includes(lower))
      .slice(0, most)
      .map((c): Target => ({
        group: c.kind,
        icon: icons[c.kind] ?? 'box',
        label: c.name,
        detail: `${sentence(kindWords[c.kind])}, ${c.word}`,
        to: addressOf(c.kind, c.id),
      })),
  );
}
