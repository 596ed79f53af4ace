import { words } from '../parts/text';

const services: Record<string, string> = {
  PCOIP_SECURE_GATEWAY: 'PCoIP Secure Gateway',
  BLAST_SECURE_GATEWAY: 'Blast Secure Gateway',
  SECURITY_GATEWAY_COMPONENT: 'security gateway component',
};

/** A service of a connection server, as sentences name it. */
export const serviceName = (service: string) => services[service] ?? words(service);

const named: Record<string, (name: string) => string> = {
  enrollment: (name) => `enrolment server ${name}`,
  certificates: (name) => `certificate server ${name}`,
  replication: (name) => `replication to ${name}`,
  service: serviceName,
};

/** A part of a component in words. The API gives its type and its name: "enrollment es1.corp.example". */
export function partName(part: string | undefined): string {
  const [, type = '', name = ''] = part?.match(/^(\w+) (.+)$/) ?? [];
  return named[type]?.(name) ?? part ?? '';
}
