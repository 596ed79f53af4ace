import type { ReactNode } from 'react';
import type { QueryKey, UseQueryOptions } from '@tanstack/react-query';
import type {
  ADDomain,
  Composer,
  ConnectionServer,
  Farm,
  Gateway,
  Pod,
  SAMLAuthenticator,
  TrueSSO,
  VirtualCenter,
} from '../../api/desktop';
import { StackBar } from '../../parts/Bars';
import { Mark } from '../../parts/marks';
import { count, words } from '../../parts/text';
import { Time } from '../../parts/time';
import {
  centersQuery,
  composersQuery,
  connectionServersQuery,
  domainsQuery,
  farmsQuery,
  gatewaysQuery,
  podsQuery,
  samlQuery,
  ssoQuery,
} from '../data';
import {
  fromCenter,
  fromComposer,
  fromConnectionServer,
  fromDomain,
  fromFarm,
  fromGateway,
  fromPod,
  fromSAML,
  fromSSO,
  hostName,
  roundTripText,
  slowestRoundTrip,
  type Component,
} from '../components';
import { countText } from '../counts';
import { serviceName } from '../partName';
import { certificateStatus, daysLeft } from '../status';
import type { PartRow } from './ComponentPanel';
import type { MatrixData } from './Matrix';

/** One kind of component: the query for its list, and what the list shows. */
export interface KindSpec<T = never> {
  title: string;
  /** The name of one component of the kind. */
  singular: string;
  query: UseQueryOptions<T[], Error, T[], QueryKey>;
  component: (item: T) => Component;
  columns: { head: string; wide?: boolean; roomy?: boolean; num?: boolean; cell: (item: T) => ReactNode }[];
  /** The parts of a component, as lists with statuses. */
  parts: (item: T) => { title: string; rows: PartRow[] }[];
  /** Facts about a component: name and value. */
  facts?: (item: T) => [string, ReactNode][];
  /** The statuses that each connection server reports for each component. */
  matrix?: (items: T[]) => MatrixData;
}

/** A value as a bar, up to a maximum. If the maximum is 0, there is none, and only the number is shown. The value may be unknown. */
const Bar = ({ value, of, unit = '' }: { value: number | undefined; of: number; unit?: string }) =>
  value === undefined || of === 0 ? (
    <>{countText(value)}</>
  ) : (
    <span className="row tight kind-bar">
      <StackBar total={Math.max(of, 1)} parts={[{ name: 'ramp', value }]} />
      <span className="small t3">
        {count(value)}/{count(of)} {unit}
      </span>
    </span>
  );

export function Certificate({ of }: { of: { valid: boolean; valid_to: number } | undefined }) {
  const status = certificateStatus(of);
  return (
    <span className={`word c-${status}`}>
      <Mark name={status} />
      {!of || of.valid_to === 0 ? 'unknown' : `${daysLeft(of.valid_to)} d${of.valid ? '' : ', not trusted'}`}
    </span>
  );
}

/** The slowest round trip to an enabled endpoint. From 100 ms on, users notice a lag; from 200 ms on, it is hard to work. */
function RoundTrip({ of }: { of: Pod }) {
  const slowest = slowestRoundTrip(of);
  const mark = slowest === undefined ? undefined : slowest >= 200 ? 'error' : slowest >= 100 ? 'warn' : undefined;
  return mark ? (
    <span className={`word c-${mark}`}>
      <Mark name={mark} label />
      {roundTripText(slowest)}
    </span>
  ) : (
    <>{roundTripText(slowest)}</>
  );
}

const protocols: Record<string, string> = { PCOIP: 'PCoIP', BLAST: 'Blast' };
const protocolName = (protocol: string) => protocols[protocol] ?? protocol;

const seenBy = (all: { name: string; status: string }[] | undefined) => ({
  title: 'As connection servers see it',
  rows: (all ?? []).map((s) => ({ part: s.name, name: hostName(s.name), status: s.status })),
});
/** Hides the type of the components, since `kinds` contains specs of different types. */
const spec = <T,>(s: KindSpec<T>) => s as unknown as KindSpec;

export const kinds: Record<string, KindSpec> = {
  gateways: spec<Gateway>({
    title: 'Gateways',
    singular: 'Gateway',
    query: gatewaysQuery as never,
    component: fromGateway,
    columns: [
      { head: 'Type', cell: (g) => g.details.type },
      { head: 'Internal', wide: true, roomy: true, cell: (g) => (g.details.internal ? 'yes' : 'no') },
      { head: 'Address', wide: true, cell: (g) => <code>{g.details.address}</code> },
      { head: 'Version', wide: true, roomy: true, cell: (g) => g.details.version },
      { head: 'Connections', num: true, cell: (g) => countText(g.active_connection_count) },
      { head: 'Blast', num: true, wide: true, cell: (g) => countText(g.blast_connection_count) },
      { head: 'PCoIP', num: true, wide: true, cell: (g) => countText(g.pcoip_connection_count) },
      { head: 'Last report', wide: true, cell: (g) => <Time at={g.last_updated_timestamp} /> },
    ],
    parts: () => [],
  }),
  'connection-servers': spec<ConnectionServer>({
    title: 'Connection servers',
    singular: 'Connection server',
    query: connectionServersQuery as never,
    component: fromConnectionServer,
    columns: [
      { head: 'Version', wide: true, roomy: true, cell: (s) => s.details.version },
      { head: 'Connections', cell: (s) => <Bar value={s.connection_count} of={s.session_threshold ?? 0} /> },
      { head: 'Tunnels', num: true, wide: true, roomy: true, cell: (s) => countText(s.tunnel_connection_count) },
      {
        head: 'Sessions',
        wide: true,
        cell: (s) => (
          <span className="nowrap">
            {s.session_protocol_data?.map((p) => `${protocolName(p.session_protocol)} ${p.session_count}`).join(', ') || '–'}
          </span>
        ),
      },
      {
        head: 'Services',
        wide: true,
        roomy: true,
        cell: (s) => (s.services?.length ? `${s.services.filter((x) => x.status === 'UP').length}/${s.services.length} up` : '–'),
      },
      { head: 'Certificate', cell: (s) => <Certificate of={s.certificate} /> },
      { head: 'Default certificate', wide: true, roomy: true, cell: (s) => (s.default_certificate ? 'yes' : 'no') },
    ],
    parts: (s) => [
      {
        title: 'Replication',
        rows: (s.cs_replications ?? []).map((r) => ({
          part: `replication ${r.server_name}`,
          name: hostName(r.server_name),
          status: r.status,
        })),
      },
      {
        title: 'Services',
        rows: (s.services ?? []).map((x) => ({
          part: `service ${x.service_name}`,
          name: serviceName(x.service_name),
          status: x.status,
        })),
      },
    ],
    facts: (s) => [
      ['Build', `${s.details.version}, ${s.details.build}`],
      ['Certificate', <Certificate key="c" of={s.certificate} />],
      ['Thumbprint', <code key="t">{s.certificate.thumbprint?.slice(0, 16) ?? '–'}</code>],
      ...(s.session_protocol_data ?? []).map((p): [string, ReactNode] => [
        `${protocolName(p.session_protocol)} sessions`,
        count(p.session_count),
      ]),
    ],
    matrix: (all) => ({
      title: 'Replication',
      row: 'Server',
      columns: all.map((s) => s.name),
      rows: all.map((s) => ({
        name: s.name,
        // A replication may name its server with or without the domain; the columns have the names of the list.
        cells: new Map(
          (s.cs_replications ?? []).map((r) => [
            all.find((x) => x.name === r.server_name || hostName(x.name) === hostName(r.server_name))?.name ?? r.server_name,
            r.status,
          ]),
        ),
      })),
    }),
  }),
  domains: spec<ADDomain>({
    title: 'Domains',
    singular: 'Domain',
    query: domainsQuery as never,
    component: fromDomain,
    columns: [
      { head: 'NetBIOS', wide: true, cell: (d) => d.netbios_name },
      { head: 'Trust', wide: true, cell: (d) => words(d.connection_servers?.[0]?.trust_relationship ?? 'UNKNOWN') },
      { head: 'Reached by', num: true, wide: true, cell: (d) => fromDomain(d).measure },
      { head: 'NT4', wide: true, cell: (d) => (d.nt4_domain ? 'yes' : 'no') },
      { head: 'Last checked', wide: true, cell: (d) => <Time at={d.last_updated_timestamp} /> },
    ],
    parts: (d) => [seenBy(d.connection_servers)],
    matrix: (all) => ({
      title: 'As connection servers see them',
      row: 'Domain',
      columns: (all[0]?.connection_servers ?? []).map((s) => s.name),
      rows: all.map((d) => ({ name: d.netbios_name || d.dns_name, cells: new Map(d.connection_servers.map((s) => [s.name, s.status])) })),
    }),
  }),
  farms: spec<Farm>({
    title: 'Farms',
    singular: 'Farm',
    query: farmsQuery as never,
    component: fromFarm,
    columns: [
      { head: 'Kind', wide: true, cell: (f) => fromFarm(f).detail },
      { head: 'Servers OK', num: true, cell: (f) => `${countText(f.healthy_rds_server_count)}/${countText(f.rds_server_count)}` },
      { head: 'Sessions', num: true, cell: (f) => countText(f.session_count) },
      { head: 'Applications', num: true, wide: true, cell: (f) => countText(f.application_count) },
      { head: 'Last checked', wide: true, cell: (f) => <Time at={f.last_updated_timestamp} /> },
    ],
    parts: () => [],
  }),
  'virtual-centers': spec<VirtualCenter>({
    title: 'Virtual centers',
    singular: 'Virtual center',
    query: centersQuery as never,
    component: fromCenter,
    columns: [
      { head: 'Hosts', cell: (c) => `${c.hosts.filter((h) => h.status === 'CONNECTED').length}/${c.hosts.length}` },
      { head: 'Datastores', cell: (c) => `${c.datastores.filter((d) => d.status === 'ACCESSIBLE').length}/${c.datastores.length}` },
      {
        head: 'Space used',
        wide: true,
        cell: (c) => {
          const all = c.datastores.reduce((n, d) => n + d.capacity_mb, 0);
          const free = c.datastores.reduce((n, d) => n + d.free_space_mb, 0);
          return <Bar value={Math.round((all - free) / 1024)} of={Math.round(all / 1024)} unit="GB" />;
        },
      },
      { head: 'Desktops', num: true, cell: (c) => count(c.desktops_count) },
      { head: 'Version', wide: true, cell: (c) => c.details.version },
      { head: 'Certificate', wide: true, cell: (c) => <Certificate of={c.connection_servers[0]?.certificate} /> },
    ],
    parts: (c) => [
      {
        title: 'Hosts',
        rows: c.hosts.map((h) => ({
          part: `host ${h.details.name}`,
          name: h.details.name,
          status: h.status,
          detail: h.details.cluster_name,
        })),
      },
      {
        title: 'Datastores',
        rows: c.datastores.map((d) => {
          // Two datacenters may have datastores of the same name. The API names parts by the same rule.
          const name = c.datastores.some((o) => o !== d && o.details.name === d.details.name) ? d.details.path : d.details.name;
          return {
            part: `datastore ${name}`,
            name,
            status: d.status,
            detail: `${count(Math.round(d.free_space_mb / 1024))} of ${count(Math.round(d.capacity_mb / 1024))} GB free`,
          };
        }),
      },
      seenBy(c.connection_servers),
    ],
  }),
  pods: spec<Pod>({
    title: 'Remote pods',
    singular: 'Remote pod',
    query: podsQuery as never,
    component: fromPod,
    columns: [
      { head: 'Endpoints', cell: (p) => fromPod(p).detail },
      { head: 'Round trip', num: true, cell: (p) => <RoundTrip of={p} /> },
      { head: 'Site', wide: true, cell: (p) => <code>{p.site_id.slice(0, 8)}</code> },
      { head: 'Last checked', wide: true, cell: (p) => <Time at={p.last_updated_timestamp} /> },
    ],
    parts: (p) => [
      {
        title: 'Endpoints',
        rows: (p.endpoints ?? []).map((e) => ({ part: e.name, name: e.name, status: e.enabled ? e.status : 'DISABLED', detail: e.url })),
      },
    ],
  }),
  saml: spec<SAMLAuthenticator>({
    title: 'SAML authenticators',
    singular: 'SAML authenticator',
    query: samlQuery as never,
    component: fromSAML,
    columns: [
      { head: 'Metadata', wide: true, cell: (s) => <code>{s.details.metadata_url}</code> },
      { head: 'OK on', num: true, cell: (s) => fromSAML(s).measure },
    ],
    parts: (s) => [seenBy(s.connection_servers)],
  }),
  'true-sso': spec<TrueSSO>({
    title: 'Single sign-on',
    singular: 'Single sign-on connector',
    query: ssoQuery as never,
    component: fromSSO,
    columns: [
      { head: 'Domain', cell: (s) => s.ad_domain_dns_name },
      { head: 'Template', wide: true, cell: (s) => s.template_name },
      { head: 'Enrolment server', wide: true, cell: (s) => s.primary_enrollment_server.dns_name },
    ],
    parts: (s) => [
      {
        title: 'Parts',
        rows: [
          { part: 'domain', name: s.ad_domain_dns_name, status: s.ad_domain_status, detail: 'domain' },
          { part: 'template', name: s.template_name, status: s.template_status, detail: 'template' },
          {
            part: `enrollment ${s.primary_enrollment_server.dns_name}`,
            name: s.primary_enrollment_server.dns_name,
            status: s.primary_enrollment_server.status,
            detail: 'enrolment server',
          },
          ...(s.secondary_enrollment_server
            ? [
                {
                  part: `enrollment ${s.secondary_enrollment_server.dns_name}`,
                  name: s.secondary_enrollment_server.dns_name,
                  status: s.secondary_enrollment_server.status,
                  detail: 'second enrolment server',
                },
              ]
            : []),
          ...s.certificate_server_details.map((c) => ({
            part: `certificates ${c.name}`,
            name: c.name,
            status: c.status,
            detail: 'certificate server',
          })),
        ],
      },
    ],
  }),
  composers: spec<Composer>({
    title: 'Composers',
    singular: 'Composer',
    query: composersQuery as never,
    component: fromComposer,
    columns: [
      { head: 'Version', cell: (c) => c.details.version },
      { head: 'Port', wide: true, num: true, cell: (c) => String(c.port) },
      { head: 'Reached by', num: true, cell: (c) => fromComposer(c).measure },
      { head: 'Certificate', wide: true, cell: (c) => <Certificate of={c.connection_servers[0]?.certificate} /> },
    ],
    parts: (c) => [seenBy(c.connection_servers)],
  }),
};
