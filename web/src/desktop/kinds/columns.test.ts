import { expect, test, vi } from 'vitest';
import { kinds } from './columns';

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null })); // parts/time reads its setting when it is imported

const partsOf = (kind: string, item: object) => kinds[kind]?.parts(item as never).flatMap((p) => p.rows.map((r) => [r.part, r.name]));

test('the rows of a connection server have the names of its parts in the API', () => {
  const server = {
    cs_replications: [{ server_name: 'cs02.corp.example', status: 'ERROR' }],
    services: [{ service_name: 'BLAST_SECURE_GATEWAY', status: 'DOWN' }],
  };
  expect(partsOf('connection-servers', server)).toEqual([
    ['replication cs02.corp.example', 'cs02'],
    ['service BLAST_SECURE_GATEWAY', 'Blast Secure Gateway'],
  ]);
});

test('the rows of a single sign-on connector have the names of its parts in the API', () => {
  const connector = {
    ad_domain_dns_name: 'corp.example',
    template_name: 'VigilSSO',
    primary_enrollment_server: { dns_name: 'es1.corp.example' },
    secondary_enrollment_server: { dns_name: 'es2.corp.example' },
    certificate_server_details: [{ name: 'corp CA' }],
  };
  expect(partsOf('true-sso', connector)).toEqual([
    ['domain', 'corp.example'],
    ['template', 'VigilSSO'],
    ['enrollment es1.corp.example', 'es1.corp.example'],
    ['enrollment es2.corp.example', 'es2.corp.example'],
    ['certificates corp CA', 'corp CA'],
  ]);
});

test('the rows of a virtual center have the names of its parts in the API', () => {
  const datastore = (name: string, path: string) => ({ details: { name, path }, capacity_mb: 1, free_space_mb: 1 });
  const center = {
    hosts: [{ details: { name: 'h1.corp.example', cluster_name: 'c1' } }],
    datastores: [datastore('ds1', '/dc1/ds1'), datastore('ds2', '/dc1/ds2'), datastore('ds2', '/dc2/ds2')],
    connection_servers: [{ name: 'cs01.corp.example' }],
  };
  expect(partsOf('virtual-centers', center)).toEqual([
    ['host h1.corp.example', 'h1.corp.example'],
    ['datastore ds1', 'ds1'],
    ['datastore /dc1/ds2', '/dc1/ds2'],
    ['datastore /dc2/ds2', '/dc2/ds2'],
    ['cs01.corp.example', 'cs01'],
  ]);
});
