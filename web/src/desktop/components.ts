import { useQueries } from '@tanstack/react-query';
import type { ADDomain, Composer, ConnectionServer, EventDatabase, Farm, Gateway, Kind, Pod, RDSServer, SAMLAuthenticator, TrueSSO, VirtualCenter } from '../api/desktop';
import { words } from '../parts/text';
import { centersQuery, composersQuery, connectionServersQuery, domainsQuery, eventDatabaseQuery, farmsQuery, gatewaysQuery, podsQuery, rdsQuery, samlQuery, ssoQuery } from './data';
import { certificateStatus, daysLeft, markOf, worst, type Status } from './status';

/** One component of any kind, as lists and the map show it. */
export interface Component {
  kind: Kind;
  path: string;
  id: string;
  name: string;
  status: Status;
  /** The word for the status, as the API names it. */
  word: string;
  detail: string;
  /** A number beside the name. */
  measure?: string;
  reasons: string[];
}

const short = (name: string) => name.split('.')[0] ?? name;

/** "18/20": how many of several servers see it well. */
const ratio = (all: { status: string }[] | undefined) => `${(all ?? []).filter((s) => markOf(s.status) === 'ok').length}/${all?.length ?? 0}`;

export const fromGateway = (g: Gateway): Component => ({ kind: 'GATEWAY', path: 'gateways', id: g.id, name: short(g.name), status: markOf(g.status), word: words(g.status), detail: `${g.details.type}${g.details.internal ? ', internal' : ''}`, measure: String(g.active_connection_count ?? 0), reasons: g.reasons });

export function fromConnectionServer(s: ConnectionServer): Component {
  const certificate = certificateStatus(s.certificate);
  const base = markOf(s.status);
  const ends = certificate === 'warn' ? [`Its certificate ends in ${daysLeft(s.certificate.valid_to)} days`] : certificate === 'error' ? ['Its certificate is not valid'] : [];
  return { kind: 'CONNECTION_SERVER', path: 'connection-servers', id: s.id, name: short(s.name), status: base === 'ok' && ends.length ? 'warn' : base, word: base === 'ok' && ends.length ? 'certificate' : words(s.status), detail: s.details.version, measure: String(s.connection_count ?? 0), reasons: s.reasons.length ? s.reasons : ends };
}

export function fromDomain(d: ADDomain): Component {
  const all = d.connection_servers ?? [];
  const status = worst(all.map((s) => markOf(s.status)));
  const bad = all.find((s) => markOf(s.status) === status);
  const trust = all[0]?.trust_relationship ?? 'UNKNOWN';
  return { kind: 'AD_DOMAIN', path: 'domains', id: d.id ?? d.dns_name, name: d.dns_name, status, word: words(bad?.status ?? 'UNKNOWN'), detail: trust === 'PRIMARY_DOMAIN' ? 'primary' : words(trust), measure: ratio(all), reasons: d.reasons };
}

export const fromFarm = (f: Farm): Component => ({ kind: 'FARM', path: 'farms', id: f.id, name: f.name, status: markOf(f.status), word: words(f.status), detail: `${words(f.details.type)}${f.details.source ? `, ${words(f.details.source)}` : ''}`, measure: String(f.rds_server_count ?? 0), reasons: f.reasons });

export const rdsStatus = (s: RDSServer): Status => (s.status === 'DISABLED' || !s.enabled ? 'off' : markOf(s.status));
export const fromRDS = (s: RDSServer): Component => ({ kind: 'RDS_SERVER', path: 'rds-servers', id: s.id, name: short(s.name), status: rdsStatus(s), word: words(s.details.state), detail: words(s.details.operating_system), measure: `${s.session_count ?? 0}/${s.details.max_sessions_count_configured ?? 0}`, reasons: s.reasons });

export function fromCenter(c: VirtualCenter): Component {
  const lostHosts = c.hosts.filter((h) => h.status !== 'CONNECTED');
  const lostStores = c.datastores.filter((d) => d.status !== 'ACCESSIBLE');
  const seen = worst(c.connection_servers.map((s) => markOf(s.status)));
  const lost = [...lostHosts.map((h) => `Host ${h.details.name} is ${words(h.status)}`), ...lostStores.map((d) => `Datastore ${d.details.name} is not accessible`)];
  return { kind: 'VIRTUAL_CENTER', path: 'virtual-centers', id: c.id, name: short(c.name), status: seen === 'ok' && lost.length ? 'warn' : seen, word: lost.length ? 'parts lost' : seen === 'ok' ? 'ok' : words(c.connection_servers.find((s) => markOf(s.status) === seen)?.status ?? 'UNKNOWN'), detail: `${c.hosts.length - lostHosts.length}/${c.hosts.length} hosts, ${c.desktops_count} desktops`, reasons: c.reasons.length ? c.reasons : lost };
}

export function fromPod(p: Pod): Component {
  const ends = (p.endpoints ?? []).filter((e) => e.enabled);
  const status = worst(ends.map((e) => markOf(e.status)));
  const trip = Math.max(0, ...ends.map((e) => e.roundtrip_time ?? 0));
  return { kind: 'POD', path: 'pods', id: p.id, name: p.name, status, word: words(ends.find((e) => markOf(e.status) === status)?.status ?? 'UNKNOWN'), detail: `${ends.filter((e) => e.status === 'ONLINE').length}/${ends.length} online`, measure: trip < 1 ? '<1 ms' : `${trip} ms`, reasons: p.reasons };
}

export const fromSAML = (s: SAMLAuthenticator): Component => ({ kind: 'SAML_AUTHENTICATOR', path: 'saml', id: s.id, name: s.details.label, status: worst(s.connection_servers.map((c) => markOf(c.status))), word: words(s.connection_servers.find((c) => markOf(c.status) !== 'ok')?.status ?? 'OK'), detail: 'SAML', measure: ratio(s.connection_servers), reasons: s.reasons });
export const fromSSO = (s: TrueSSO): Component => ({ kind: 'TRUE_SSO', path: 'true-sso', id: s.id, name: s.name, status: s.enabled ? markOf(s.status) : 'off', word: s.enabled ? words(s.status) : 'disabled', detail: 'single sign-on', measure: s.ad_domain_dns_name, reasons: s.reasons });
export const fromComposer = (c: Composer): Component => ({ kind: 'COMPOSER', path: 'composers', id: c.id ?? c.name, name: short(c.name), status: worst(c.connection_servers.map((s) => markOf(s.status))), word: words(c.connection_servers.find((s) => markOf(s.status) !== 'ok')?.status ?? 'OK'), detail: c.details.version, measure: ratio(c.connection_servers), reasons: c.reasons });
export const fromEventDatabase = (e: EventDatabase): Component => ({ kind: 'EVENT_DATABASE', path: 'event-database', id: 'event-database', name: 'Event database', status: markOf(e.status), word: words(e.status ?? 'UNKNOWN'), detail: e.details ? `${e.details.server_name}, ${e.event_count ?? 0} events` : 'the inventory names none', reasons: e.reasons ?? [] });

/** Every component, by kind; a kind that did not answer is missing. */
export function useComponents() {
  const answers = useQueries({ queries: [gatewaysQuery, connectionServersQuery, domainsQuery, farmsQuery, rdsQuery, centersQuery, podsQuery, samlQuery, ssoQuery, composersQuery, eventDatabaseQuery] as never[] }) as { data?: unknown }[];
  const of = <T>(i: number, make: (x: T) => Component) => ((answers[i]?.data as T[] | undefined) ?? []).map(make);
  const database = answers[10]?.data as EventDatabase | undefined;
  return {
    loaded: answers.some((a) => a.data !== undefined),
    gateways: of(0, fromGateway), servers: of(1, fromConnectionServer), domains: of(2, fromDomain), farms: of(3, fromFarm), rds: of(4, fromRDS), centers: of(5, fromCenter), pods: of(6, fromPod),
    saml: of(7, fromSAML), sso: of(8, fromSSO), composers: of(9, fromComposer), database: database ? [fromEventDatabase(database)] : [],
  };
}
export type Components = ReturnType<typeof useComponents>;

export const everything = (c: Components): Component[] => [...c.gateways, ...c.servers, ...c.domains, ...c.farms, ...c.rds, ...c.centers, ...c.pods, ...c.saml, ...c.sso, ...c.composers, ...c.database];
