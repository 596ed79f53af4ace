import { expect, test } from 'vitest';
import type { RDSServer } from '../../api/desktop';
import { healthMark } from '../status';
import { groupNamed, groupOf, groups } from './groups';

const server = (health: RDSServer['health'], state: RDSServer['details']['state'], more: Partial<RDSServer> = {}) =>
  ({ enabled: true, health, details: { state }, ...more }) as RDSServer;

test('servers are in the group error if their health is ERROR', () => {
  expect(groupOf(server('ERROR', 'AGENT_UNREACHABLE')).name).toBe('error');
  expect(groupOf(server('ERROR', 'AGENT_ERR_DOMAIN_FAILURE')).name).toBe('error');
  // The health decides, not the state.
  expect(groupOf(server('WARNING', 'AGENT_ERR_STARTUP_IN_PROGRESS')).name).toBe('warning');
});

test('only servers with a warning are grouped by its cause', () => {
  expect(groupOf(server('WARNING', 'AGENT_DRAIN_MODE')).name).toBe('draining');
  expect(groupOf(server('WARNING', 'AVAILABLE', { load_preference: 'BLOCK' })).name).toBe('full');
  expect(groupOf(server('WARNING', 'AVAILABLE', { load_preference: 'LIGHT' })).name).toBe('warning'); // for example because of its certificate
  expect(groupOf(server('OK', 'DISCONNECTED')).name).toBe('available');
  expect(groupOf(server('UNKNOWN', 'WAIT_FOR_AGENT')).name).toBe('unknown');
  expect(groupOf(server('DISABLED', 'AGENT_UNREACHABLE', { enabled: false })).name).toBe('disabled');
});

test('an address names one of the groups, or none', () => {
  expect(groupNamed('draining')?.label).toBe('Draining');
  for (const name of ['unreachable', 'provisioning', '', undefined]) expect(groupNamed(name)).toBeUndefined();
});

test('the mark of a server is that of its health', () => {
  for (const health of ['OK', 'WARNING', 'ERROR', 'UNKNOWN', 'DISABLED'] as const)
    for (const state of ['AVAILABLE', 'MAINTENANCE', 'AGENT_UNREACHABLE', 'UNKNOWN'] as const)
      expect(groupOf(server(health, state)).mark, `${health} ${state}`).toBe(healthMark(health));
  expect(new Set(groups.map((g) => g.name)).size).toBe(groups.length);
});
