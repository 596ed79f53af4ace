import type { MarkName } from '../parts/marks';
import { count } from '../parts/text';

/** The statuses of a component; each has a mark. */
export type Status = Extract<MarkName, 'ok' | 'warn' | 'error' | 'unknown' | 'off'>;

const marks: Record<Status, string[]> = {
  ok: ['OK', 'FULLY_ACCESSIBLE', 'CONNECTED', 'ONLINE', 'ACCESSIBLE', 'UP', 'AVAILABLE', 'PROVISIONED'],
  warn: ['WARNING', 'WARN', 'RECONNECTING', 'CONNECTING', 'AGENT_DRAIN_MODE', 'AGENT_DRAIN_UNTIL_RESTART', 'MAINTENANCE'],
  error: [
    'ERROR',
    'PROBLEM',
    'DOWN',
    'OFFLINE',
    'DISCONNECTED',
    'UNCONTACTABLE',
    'CANNOT_BIND',
    'CANNOT_LOGIN',
    'INVALID_CREDENTIALS',
    'CERT_ERROR',
    'MALFORMED_URL',
    'NOT_RESPONDING',
    'NOT_ACCESSIBLE',
  ],
  unknown: ['UNKNOWN', 'STALE', 'NOT_CONTACTED', 'UNCHECKED', 'NOT_YET_CONNECTED', 'NOT_CONFIGURED'],
  off: ['DISABLED'],
};
/** The statuses that the API names, without most states of RDS servers. */
export const statusNames = Object.values(marks).flat();
const byName = new Map(Object.entries(marks).flatMap(([mark, names]) => names.map((n) => [n, mark as Status] as const)));

/** The mark of a status that the API names. A status that the console does not know is unknown, never OK. */
export const markOf = (status: string | undefined): Status =>
  byName.get(status ?? '') ?? (status?.startsWith('AGENT_ERR') ? 'error' : 'unknown');

const ofHealth: Record<string, Status> = { OK: 'ok', WARNING: 'warn', ERROR: 'error', UNKNOWN: 'unknown', DISABLED: 'off' };

/** The mark of a health: the same five words for every kind. */
export const healthMark = (health: string | undefined): Status => ofHealth[health ?? ''] ?? 'unknown';

/** The worst first. */
const order: Status[] = ['error', 'warn', 'unknown', 'off', 'ok'];
export const rank = (status: Status) => order.indexOf(status);

/** The worst of several statuses; unknown if there are none. */
export const worst = (statuses: Status[]): Status => [...statuses].sort((a, b) => rank(a) - rank(b))[0] ?? 'unknown';

/** The worst status of the enabled components of a stage. Unless all lists were read, it is not OK: an unread list may have a problem. */
export const statusOfStage = (statuses: Status[], complete: boolean): Status =>
  worst([...statuses.filter((s) => s !== 'off'), ...(complete ? [] : ['unknown' as const])]);

export const countBy = (statuses: Status[]) =>
  Object.fromEntries(order.map((s) => [s, statuses.filter((x) => x === s).length])) as Record<Status, number>;

/**
 * How many components of a stage are OK. A list is called unread only after a request has failed: while the first request is pending,
 * it is not known whether the list can be read.
 */
export function stageText(statuses: Status[], lists: { data?: unknown; error: unknown; failureReason: unknown }[]): string {
  const waiting = lists.some((l) => l.data === undefined);
  const failed = lists.some((l) => l.data === undefined && (l.error || l.failureReason));
  if (waiting && statuses.length === 0) return failed ? 'Not read' : '–';
  return `${count(countBy(statuses).ok)} of ${count(statuses.length)} OK${failed ? ', others not read' : ''}`;
}

const day = 24 * 3_600_000;

/** The status of a certificate: a warning if it expires within 30 days or is not trusted. */
export function certificateStatus(certificate: { valid: boolean; valid_to: number } | undefined, now = Date.now()): Status {
  if (!certificate || certificate.valid_to === 0) return 'unknown';
  if (certificate.valid_to < now) return 'error';
  return !certificate.valid || certificate.valid_to - now < 30 * day ? 'warn' : 'ok';
}

/** The status of the certificate of a machine. Machines renew their certificates long before the last week, so one that expires then is a warning. */
export function machineCertificateStatus(validTo: number, now = Date.now()): Status {
  if (validTo === 0) return 'unknown';
  if (validTo < now) return 'error';
  return validTo - now < 7 * day ? 'warn' : 'ok';
}

/** Whether a certificate expires within 30 days, or has expired. */
export const expiresSoon = (certificate: { valid_to: number }, now = Date.now()) =>
  certificate.valid_to > 0 && certificate.valid_to - now < 30 * day;

export const daysLeft = (to: number, now = Date.now()) => Math.floor((to - now) / day);
