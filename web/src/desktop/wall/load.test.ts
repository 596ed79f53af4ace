import { expect, test } from 'vitest';
import type { RDSServer } from '../../api/desktop';
import { fillOf, measuredLoads, median, share } from './load';

const server = (more: object) => ({ enabled: true, health: 'OK', details: { max_sessions_count_configured: 20 }, ...more }) as RDSServer;

test('a load that was not measured is not counted as 0', () => {
  const loads = measuredLoads([server({ load_index: 60 }), server({}), server({ load_index: 0 }), server({ load_index: 40 })]);
  expect(loads).toEqual([0, 40, 60]);
  expect(median(loads)).toBe(40);
  expect(measuredLoads([server({ load_index: 60, enabled: false })])).toEqual([]);
});

test('the median of no loads is not known', () => {
  expect(median(measuredLoads([server({})]))).toBeUndefined();
});

test('the share of what a server has not reported is not known', () => {
  expect(share(server({ load_index: 0 }), 'load')).toBe(0);
  expect(share(server({ session_count: 5 }), 'load')).toBeUndefined();
  expect(share(server({ session_count: 5 }), 'sessions')).toBe(25);
  expect(share(server({ load_index: 5 }), 'sessions')).toBeUndefined();
  expect(share(server({ session_count: 5, details: {} }), 'sessions')).toBeUndefined(); // it has no limit
});

test('the square of a server that is OK has the shade of its load, or is unknown', () => {
  expect(fillOf(server({ load_index: 0 }))).toBe('r1');
  expect(fillOf(server({ load_index: 100 }))).toBe('r5');
  expect(fillOf(server({}))).toBe('unknown');
  expect(fillOf(server({ health: 'ERROR', load_index: 50 }))).toBe('error');
});
