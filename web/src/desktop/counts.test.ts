import { expect, test } from 'vitest';
import type { EventDatabase, Gateway, ConnectionServer, RDSServer } from '../api/desktop';
import { fromConnectionServer, fromEventDatabase, fromGateway, fromRDS } from './components';
import { countText, sessionCount, sessionLimit, sessionsShort, sessionsText } from './counts';

const server = (sessions?: number, max?: number) =>
  ({
    name: 'rds1',
    details: { state: 'AVAILABLE', operating_system: 'UNKNOWN', max_sessions_count_configured: max },
    session_count: sessions,
  }) as RDSServer;

test('a count that was not reported is unknown, not 0', () => {
  expect(countText(undefined)).toBe('unknown');
  expect(countText(0)).toBe('0');
  expect(fromGateway({ name: 'gw', status: 'OK', details: {} } as Gateway).measure).toBe('unknown');
  expect(fromGateway({ name: 'gw', status: 'OK', details: {}, active_connection_count: 0 } as Gateway).measure).toBe('0');
  expect(fromConnectionServer({ name: 'cs', status: 'OK', details: {} } as ConnectionServer).measure).toBe('unknown');
  expect(fromEventDatabase({ details: { server_name: 'db' } } as EventDatabase).detail).toBe('db, number of events unknown');
  expect(fromEventDatabase({ details: { server_name: 'db' }, event_count: 7 } as EventDatabase).detail).toBe('db, 7 events');
});

test('a server without a limit has no limit of 0', () => {
  expect(fromRDS(server(5)).measure).toBe('5');
  expect(fromRDS(server(5, 20)).measure).toBe('5/20');
  expect(sessionsShort(server(undefined, 20))).toBe('–/20');
  expect(sessionsShort(server())).toBe('–');
  expect(sessionsText(server(5))).toBe('5, no limit');
  expect(sessionsText(server(0, 20))).toBe('0 of 20');
  expect(sessionsText(server(undefined, 20))).toBe('unknown of 20');
  expect(sessionsText(server())).toBe('unknown');
});

test('servers have a limit together only if each that reports has one', () => {
  expect(sessionLimit([server(5, 20), server(0, 30)])).toBe(50);
  expect(sessionLimit([server(5, 20), server(1)])).toBeUndefined();
  expect(sessionLimit([server(5, 20), server()])).toBe(20); // the second has not reported
  expect(sessionLimit([server()])).toBeUndefined();
  expect(sessionLimit([])).toBeUndefined();
});

test('the sessions of servers are unknown if none reports them', () => {
  expect(sessionCount([server(5, 20), server(), server(2)])).toBe(7);
  expect(sessionCount([server(undefined, 20)])).toBeUndefined();
});
