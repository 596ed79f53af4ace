import type { RDSServer } from '../../api/desktop';
import type { MarkName } from '../../parts/marks';

type State = RDSServer['details']['state'];

/** The groups in which the wall shows RDS servers, with the states in each. groupOf puts servers in the group full, which has no state of its own. */
export const groups: { name: string; label: string; mark: MarkName; states: State[] }[] = [
  {
    name: 'available',
    label: 'Available',
    mark: 'ok',
    states: ['AVAILABLE', 'CONNECTED', 'DISCONNECTED', 'PROVISIONED', 'ALREADY_USED', 'IN_PROGRESS'],
  },
  {
    name: 'error',
    label: 'Agent error',
    mark: 'error',
    states: [
      'ERROR',
      'AGENT_CONFIG_ERROR',
      'PROVISIONING_ERROR',
      'AGENT_ERR_STARTUP_IN_PROGRESS',
      'AGENT_ERR_DISABLED',
      'AGENT_ERR_INVALID_IP',
      'AGENT_ERR_NEED_REBOOT',
      'AGENT_ERR_PROTOCOL_FAILURE',
      'AGENT_ERR_DOMAIN_FAILURE',
    ],
  },
  { name: 'full', label: 'Full', mark: 'warn', states: [] },
  {
    name: 'draining',
    label: 'Draining',
    mark: 'warn',
    states: ['AGENT_DRAIN_MODE', 'AGENT_DRAIN_UNTIL_RESTART', 'DISABLE_IN_PROGRESS', 'MAINTENANCE'],
  },
  { name: 'provisioning', label: 'Provisioning', mark: 'unknown', states: ['PROVISIONING', 'CUSTOMIZING', 'VALIDATING', 'DELETING'] },
  { name: 'unreachable', label: 'Unreachable', mark: 'unknown', states: ['AGENT_UNREACHABLE', 'WAIT_FOR_AGENT', 'UNKNOWN'] },
  { name: 'disabled', label: 'Disabled', mark: 'off', states: ['DISABLED'] },
];

/** The group of a server: disabled if it is not enabled, full if it is available but takes no more sessions, otherwise by its state. */
export function groupOf(s: RDSServer): (typeof groups)[number] {
  const find = (name: string) => groups.find((g) => g.name === name) as (typeof groups)[number];
  if (!s.enabled || s.details.state === 'DISABLED') return find('disabled');
  const known = groups.find((g) => g.states.includes(s.details.state)) ?? find('unreachable');
  return known.name === 'available' && ((s.load_index ?? 0) >= 100 || s.load_preference === 'BLOCK') ? find('full') : known;
}
