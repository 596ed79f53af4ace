import type { RDSServer } from '../../api/desktop';
import type { Status } from '../status';

/** A group of RDS servers on the wall. All its servers have the health that the mark shows. */
interface Group {
  name: string;
  label: string;
  mark: Status;
}

const available: Group = { name: 'available', label: 'Available', mark: 'ok' };
const error: Group = { name: 'error', label: 'Error', mark: 'error' };
const full: Group = { name: 'full', label: 'Full', mark: 'warn' };
const draining: Group = { name: 'draining', label: 'Draining', mark: 'warn' };
const warning: Group = { name: 'warning', label: 'Other warning', mark: 'warn' };
const unknown: Group = { name: 'unknown', label: 'Unknown', mark: 'unknown' };
const disabled: Group = { name: 'disabled', label: 'Disabled', mark: 'off' };

/** The groups in which the wall shows RDS servers. */
export const groups = [available, error, full, draining, warning, unknown, disabled];

/** The group that an address names; undefined if none has this name, such as "unreachable" in addresses of earlier versions. */
export const groupNamed = (name: string | undefined) => groups.find((g) => g.name === name);

const drains: RDSServer['details']['state'][] = ['AGENT_DRAIN_MODE', 'AGENT_DRAIN_UNTIL_RESTART', 'MAINTENANCE'];

/** The group of a server: by its health, so that the wall counts as the health map does; warnings also by their cause. */
export function groupOf(s: RDSServer): Group {
  switch (s.health) {
    case 'OK':
      return available;
    case 'ERROR':
      return error;
    case 'DISABLED':
      return disabled;
    case 'WARNING':
      if (drains.includes(s.details.state)) return draining;
      return s.load_preference === 'BLOCK' ? full : warning;
    default:
      return unknown;
  }
}
