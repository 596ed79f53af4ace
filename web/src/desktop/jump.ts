import { desktop } from '../api/desktop';
import type { Found, Target } from '../frame/JumpBox';
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

/** Components whose name matches, with or without its domain. */
export async function jumpTargets(text: string): Promise<Found> {
  const lower = text.toLowerCase();
  const matches = (name: string) => name.toLowerCase().includes(lower);
  const matching = <T extends { name: string }>(all: T[], make: (x: T) => Component) => all.filter((x) => matches(x.name)).map(make);
  // Domains and SAML authenticators have no member `name`, so the names of their components are searched.
  const lists = await Promise.all([
    desktop.get('/rest/monitor/gateways').then((all) => matching(all, fromGateway)),
    desktop.get('/rest/monitor/connection-servers').then((all) => matching(all, fromConnectionServer)),
    desktop.get('/rest/monitor/farms').then((all) => matching(all, fromFarm)),
    desktop.get('/rest/monitor/rds-servers').then((all) => matching(all, fromRDS)),
    desktop.get('/rest/monitor/virtual-centers').then((all) => matching(all, fromCenter)),
    desktop.get('/rest/monitor/ad-domains').then((all) => all.map(fromDomain).filter((c) => matches(c.name))),
    desktop.get('/rest/monitor/v1/pods').then((all) => matching(all, fromPod)),
    desktop.get('/rest/monitor/saml-authenticators').then((all) => all.map(fromSAML).filter((c) => matches(c.name))),
    desktop.get('/rest/monitor/v1/true-sso').then((all) => matching(all, fromSSO)),
    desktop.get('/rest/monitor/desktop-composers').then((all) => matching(all, fromComposer)),
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
  const targets = lists.flatMap((all) =>
    all.slice(0, most).map((c): Target => ({
      group: c.kind,
      icon: icons[c.kind] ?? 'box',
      label: c.name,
      detail: `${sentence(kindWords[c.kind])}, ${c.word}`,
      to: addressOf(c.kind, c.id),
    })),
  );
  return { targets, more: lists.some((all) => all.length > most) };
}
