/** Numbers and words as they are shown. */

const counts = new Intl.NumberFormat('en-GB');
export const count = (n: number) => counts.format(n);

/** "1 finding", "2 findings". */
export const plural = (n: number, one: string, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;

/** The first of many names, and how many more there are. */
export const someOf = (names: string[]) =>
  names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');

/** A sentence of the API, with its first letter in upper case. */
export const sentence = (text: string) => (/^\S*(\.\w|: )/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1)); // names of hosts and regions stay as they are

/** AGENT_ERR_DOMAIN_FAILURE becomes "agent err domain failure". */
export const words = (status: string) => status.replaceAll('_', ' ').toLowerCase();

/** WINDOWS_SERVER_2012_R2 becomes "Windows Server 2012 R2". */
export const systemName = (system: string) => words(system).replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

/** AWS.EC2.Instance becomes EC2.Instance. */
export const shortType = (type: string) => type.split('.').slice(1).join('.') || type;

/** The last part of a type: Instance. */
export const typeName = (type: string) => type.split('.').at(-1) ?? type;

/** The name at the end of an entity id, for answers that name none. */
export const nameInId = (id: string) => id.split('.').slice(5).join('.') || id;

/** EC2.Instance, out of AWS.EC2.123456789012.eu-west-1.Instance.i-1. */
export function typeInId(id: string): string {
  const parts = id.split('.');
  return parts.length > 5 ? `${parts[1]}.${parts[4]}` : '';
}

export const middleCut = (text: string, length = 24) =>
  text.length <= length ? text : `${text.slice(0, length / 2 - 1)}…${text.slice(-(length / 2 - 2))}`;

const targetNames: Record<string, string> = {
  had: 'last record before',
  has: 'last record now',
  through: 'up to record',
  removed: 'records removed',
};

/** The name of a target of the audit: cloud_account_id becomes "cloud account". */
export const targetName = (name: string) => targetNames[name] ?? (name.replace(/_id$/, '').replaceAll('_', ' ') || name);
