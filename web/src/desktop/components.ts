import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import type {
  ADDomain,
  Composer,
  ConnectionServer,
  EventDatabase,
  Farm,
  Gateway,
  Kind,
  Pod,
  RDSServer,
  SAMLAuthenticator,
  TrueSSO,
  VirtualCenter,
} from '../api/desktop';
import { count, words } from '../parts/text';
import { countText, sessionsShort } from './counts';
import {
  centersQuery,
  composersQuery,
  connectionServersQuery,
  domainsQuery,
  eventDatabaseQuery,
  farmsQuery,
  gatewaysQuery,
  podsQuery,
  rdsQuery,
  samlQuery,
  ssoQuery,
} from './data';
import { healthMark, markOf, rank, worst, type Status } from './status';

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
  /** Shown beside the name, usually a number. */
  measure?: string;
  reasons: string[];
  /** Since when the status is what it is, in milliseconds. */
  since?: number;
  parts: { name: string; status: string; health: string; since?: number }[];
}

/** The name of a machine without its domain. */
export const hostName = (name: string) => name.split('.')[0] ?? name;

/** "18/20": how many of the connection servers report that the component is OK. */
const ratio = (all: { status: string }[] | undefined) =>
  `${(all ?? []).filter((s) => markOf(s.status) === 'ok').length}/${all?.length ?? 0}`;

/** The members that are made in the same way for every kind. */
const base = (x: { health?: string; since?: number; reasons?: string[]; parts?: Component['parts'] }) => ({
  status: healthMark(x.health),
  reasons: x.reasons ?? [],
  parts: x.parts ?? [],
  ...(x.since ? { since: x.since } : {}),
});

export const fromGateway = (g: Gateway): Component => ({
  ...base(g),
  kind: 'GATEWAY',
  path: 'gateways',
  id: g.id,
  name: hostName(g.name),
  word: words(g.status),
  detail: `${g.details.type}${g.details.internal ? ', internal' : ''}`,
  measure: countText(g.active_connection_count),
});

export const fromConnectionServer = (s: ConnectionServer): Component => ({
  ...base(s),
  kind: 'CONNECTION_SERVER',
  path: 'connection-servers',
  id: s.id,
  name: hostName(s.name),
  // The API has no status for a server with warnings: its status is OK.
  word: words(s.health === 'WARNING' && s.status === 'OK' ? 'WARNING' : s.status),
  detail: s.details.version,
  measure: countText(s.connection_count),
});

export function fromDomain(d: ADDomain): Component {
  const all = d.connection_servers ?? [];
  const worstSeen = worst(all.map((s) => markOf(s.status)));
  const trust = all[0]?.trust_relationship ?? 'UNKNOWN';
  return {
    ...base(d),
    kind: 'AD_DOMAIN',
    path: 'domains',
    id: d.id ?? d.dns_name,
    name: d.dns_name,
    word: words(all.find((s) => markOf(s.status) === worstSeen)?.status ?? 'UNKNOWN'),
    detail: trust === 'PRIMARY_DOMAIN' ? 'primary' : words(trust),
    measure: ratio(all),
  };
}

export const fromFarm = (f: Farm): Component => ({
  ...base(f),
  kind: 'FARM',
  path: 'farms',
  id: f.id,
  name: f.name,
  word: words(f.status),
  detail: `${words(f.details.type)}${f.details.source ? `, ${words(f.details.source)}` : ''}`,
  measure: countText(f.rds_server_count),
});

export const rdsStatus = (s: RDSServer): Status => healthMark(s.health);
export const fromRDS = (s: RDSServer): Component => ({
  ...base(s),
  kind: 'RDS_SERVER',
  path: 'rds-servers',
  id: s.id,
  name: hostName(s.name),
  word: words(s.details.state),
  detail: words(s.details.operating_system),
  measure: sessionsShort(s),
});

export function fromCenter(c: VirtualCenter): Component {
  const connected = c.hosts.filter((h) => h.status === 'CONNECTED').length;
  return {
    ...base(c),
    kind: 'VIRTUAL_CENTER',
    path: 'virtual-centers',
    id: c.id,
    name: hostName(c.name),
    word: words(c.status),
    detail: `${connected}/${c.hosts.length} hosts, ${c.desktops_count} desktops`,
  };
}

/** The slowest round trip to an enabled endpoint, in milliseconds; undefined if none was measured. */
export function slowestRoundTrip(p: Pod): number | undefined {
  const times = (p.endpoints ?? []).filter((e) => e.enabled).flatMap((e) => e.roundtrip_time ?? []);
  return times.length ? Math.max(...times) : undefined;
}
export const roundTripText = (ms: number | undefined) => (ms === undefined ? 'unknown' : ms < 1 ? '<1 ms' : `${ms} ms`);

export function fromPod(p: Pod): Component {
  const enabled = (p.endpoints ?? []).filter((e) => e.enabled);
  return {
    ...base(p),
    kind: 'POD',
    path: 'pods',
    id: p.id,
    name: p.name,
    word: words(p.status),
    detail: `${enabled.filter((e) => e.status === 'ONLINE').length}/${enabled.length} online`,
    measure: roundTripText(slowestRoundTrip(p)),
  };
}

export const fromSAML = (s: SAMLAuthenticator): Component => ({
  ...base(s),
  kind: 'SAML_AUTHENTICATOR',
  path: 'saml',
  id: s.id,
  name: s.details.label,
  word: words(s.status),
  detail: 'SAML',
  measure: ratio(s.connection_servers),
});
export const fromSSO = (s: TrueSSO): Component => ({
  ...base(s),
  kind: 'TRUE_SSO',
  path: 'true-sso',
  id: s.id,
  name: s.name,
  word: s.enabled ? words(s.status) : 'disabled',
  detail: 'single sign-on',
  measure: s.ad_domain_dns_name,
});
export const fromComposer = (c: Composer): Component => ({
  ...base(c),
  kind: 'COMPOSER',
  path: 'composers',
  id: c.id ?? c.name,
  name: hostName(c.name),
  word: words(c.status),
  detail: c.details.version,
  measure: ratio(c.connection_servers),
});
export const fromEventDatabase = (e: EventDatabase): Component => ({
  ...base(e),
  kind: 'EVENT_DATABASE',
  path: 'event-database',
  id: e.id ?? 'event-database',
  name: 'Event database',
  word: words(e.status ?? 'UNKNOWN'),
  detail: e.details
    ? `${e.details.server_name}, ${e.event_count === undefined ? 'number of events unknown' : `${count(e.event_count)} events`}`
    : 'the inventory names none',
});

/** The first part of the address of the components of a kind. */
const paths: Record<Kind, string> = {
  AD_DOMAIN: 'domains',
  CONNECTION_SERVER: 'connection-servers',
  EVENT_DATABASE: 'event-database',
  FARM: 'farms',
  GATEWAY: 'gateways',
  RDS_SERVER: 'rds-servers',
  SAML_AUTHENTICATOR: 'saml',
  POD: 'pods',
  TRUE_SSO: 'true-sso',
  COMPOSER: 'composers',
  VIRTUAL_CENTER: 'virtual-centers',
};
export const addressOf = (kind: Kind, id: string) =>
  kind === 'EVENT_DATABASE' ? '/event-database' : `/${paths[kind]}/${encodeURIComponent(id)}`;
export const kindWords: Record<Kind, string> = {
  AD_DOMAIN: 'domain',
  CONNECTION_SERVER: 'connection server',
  EVENT_DATABASE: 'event database',
  FARM: 'farm',
  GATEWAY: 'gateway',
  RDS_SERVER: 'RDS server',
  SAML_AUTHENTICATOR: 'SAML authenticator',
  POD: 'pod',
  TRUE_SSO: 'single sign-on',
  COMPOSER: 'composer',
  VIRTUAL_CENTER: 'virtual center',
};
/** "a farm", "an event database". */
export const kindPhrase = (kind: string) => {
  const word = kindWords[kind as Kind] ?? words(kind);
  return `${/^([aeiou]|RDS)/.test(word) ? 'an' : 'a'} ${word}`;
};
interface Ranked {
  status: Status;
  name: string;
}
/** Orders by status, the worst first, then by name. */
export const byStatus = (a: Ranked, b: Ranked) => rank(a.status) - rank(b.status) || a.name.localeCompare(b.name, 'en', { numeric: true });
export const allKinds = Object.keys(paths) as Kind[];
/** The host name of a component; a domain has its whole DNS name. */
export const shortName = (of: { kind: Kind; name: string }) => (of.kind === 'AD_DOMAIN' ? of.name : hostName(of.name));

/** The lists of components that useComponents requests. */
const listQueries = {
  gateways: gatewaysQuery,
  servers: connectionServersQuery,
  domains: domainsQuery,
  farms: farmsQuery,
  rds: rdsQuery,
  centers: centersQuery,
  pods: podsQuery,
  saml: samlQuery,
  sso: ssoQuery,
  composers: composersQuery,
  database: eventDatabaseQuery,
};
type ListName = keyof typeof listQueries;

/** Every component, by kind. While a list has not been read, it is empty and `complete` is false. */
export function useComponents() {
  const answers = useQueries({ queries: Object.values(listQueries) as never[] }) as UseQueryResult[];
  const lists = Object.fromEntries(Object.keys(listQueries).map((name, i) => [name, answers[i]])) as Record<ListName, UseQueryResult>;
  const of = <T>(name: ListName, make: (x: T) => Component) => ((lists[name].data as T[] | undefined) ?? []).map(make);
  const database = lists.database.data as EventDatabase | undefined;
  return {
    lists,
    loaded: answers.some((a) => a.data !== undefined),
    complete: answers.every((a) => a.data !== undefined),
    error: answers.find((a) => a.error && a.data === undefined)?.error ?? undefined,
    retry: () => answers.forEach((a) => void a.refetch()),
    gateways: of('gateways', fromGateway),
    servers: of('servers', fromConnectionServer),
    domains: of('domains', fromDomain),
    farms: of('farms', fromFarm),
    rds: of('rds', fromRDS),
    centers: of('centers', fromCenter),
    pods: of('pods', fromPod),
    saml: of('saml', fromSAML),
    sso: of('sso', fromSSO),
    composers: of('composers', fromComposer),
    database: database ? [fromEventDatabase(database)] : [],
  };
}
export type Components = ReturnType<typeof useComponents>;

export const everything = (c: Components): Component[] => [
  ...c.gateways,
  ...c.servers,
  ...c.domains,
  ...c.farms,
  ...c.rds,
  ...c.centers,
  ...c.pods,
  ...c.saml,
  ...c.sso,
  ...c.composers,
  ...c.database,
];
