import type { RDSServer } from '../../api/desktop';
import { rdsStatus } from '../components';

/** The shade for a percentage: 1 to 5. */
export const shadeOf = (percent: number) => Math.min(5, 1 + Math.floor(percent / 20));

/** The measured loads of the enabled servers, in ascending order. A server without a load was not measured. */
export const measuredLoads = (servers: RDSServer[]): number[] =>
  servers
    .filter((s) => s.enabled)
    .flatMap((s) => s.load_index ?? [])
    .sort((a, b) => a - b);

/** The median of sorted numbers; undefined if there are none. */
export const median = (sorted: number[]): number | undefined => sorted[Math.floor(sorted.length / 2)];

/** The load of a server, or how many of its sessions are taken, in percent; undefined if the server has not reported it or has no limit. */
export function share(s: RDSServer, colour: 'load' | 'sessions'): number | undefined {
  if (colour === 'load') return s.load_index;
  const max = s.details.max_sessions_count_configured;
  return s.session_count === undefined || max === undefined ? undefined : (100 * s.session_count) / Math.max(1, max);
}

/** The fill of a server's square: the shade of its load if it is OK, otherwise its status. A load that was not measured is unknown. */
export function fillOf(s: RDSServer): string {
  const status = rdsStatus(s);
  if (status !== 'ok') return status;
  return s.load_index === undefined ? 'unknown' : `r${shadeOf(s.load_index)}`;
}
