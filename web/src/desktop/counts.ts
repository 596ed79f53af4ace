import type { RDSServer } from '../api/desktop';
import { count } from '../parts/text';

/** A count as text; unknown if it was not reported. */
export const countText = (n: number | undefined) => (n === undefined ? 'unknown' : count(n));

type Sessions = Pick<RDSServer, 'session_count'> & { details: Pick<RDSServer['details'], 'max_sessions_count_configured'> };

/** The sessions on all servers that report them; undefined if none does. */
export function sessionCount(servers: Sessions[]): number | undefined {
  const known = servers.flatMap((s) => s.session_count ?? []);
  return known.length ? known.reduce((a, b) => a + b, 0) : undefined;
}

/** How many sessions the servers permit together; undefined if one that reports has no limit, or if no limit is known. */
export function sessionLimit(servers: Sessions[]): number | undefined {
  const known = servers.flatMap((s) => s.details.max_sessions_count_configured ?? []);
  const unlimited = servers.some((s) => s.session_count !== undefined && s.details.max_sessions_count_configured === undefined);
  return known.length && !unlimited ? known.reduce((a, b) => a + b, 0) : undefined;
}

/** "5/20" for tables; "5" if there is no limit, and "–" for sessions that are unknown. */
export function sessionsShort(s: Sessions): string {
  const max = s.details.max_sessions_count_configured;
  return `${s.session_count === undefined ? '–' : count(s.session_count)}${max === undefined ? '' : `/${count(max)}`}`;
}

/** "5 of 20", or "5, no limit", or "unknown". */
export function sessionsText(s: Sessions): string {
  const max = s.details.max_sessions_count_configured;
  if (max !== undefined) return `${countText(s.session_count)} of ${count(max)}`;
  return s.session_count === undefined ? 'unknown' : `${count(s.session_count)}, no limit`;
}
