import { expect, test } from 'vitest';
import type { Overview, RDSServer } from '../../api/desktop';
import type { Components } from '../components';
import { figuresOf } from './figures';

const none = {
  gateways: [],
  servers: [],
  domains: [],
  farms: [],
  rds: [],
  centers: [],
  pods: [],
  saml: [],
  sso: [],
  composers: [],
  database: [],
};
const components = (state: { complete: boolean; error?: unknown }) => ({ ...none, error: undefined, ...state }) as unknown as Components;
const unread = { overview: undefined, servers: undefined, rds: undefined, alerts: undefined };

test('a figure is unknown until its list was read', () => {
  for (const f of figuresOf({ components: components({ complete: false }), ...unread })) {
    expect(f.value, f.label).toBeUndefined();
    expect(f.mark ?? 'unknown', f.label).toBe('unknown');
    expect(f.detail, f.label).not.toMatch(/\d+ (more|before)|^of|everything|not every/);
  }
});

test('a figure that counts no problem is OK', () => {
  const overview = { sessions: { rds_sessions: 5 }, kinds: [], problems: [] } as unknown as Overview;
  const figures = figuresOf({ components: components({ complete: true }), overview, servers: [], rds: [], alerts: [] });
  expect(figures.map((f) => f.value)).toEqual([5, 0, 0, 0, 0, 0]);
  // The first figure, the sessions, never has a mark. The last counts what is unknown and always has that mark.
  expect(figures.map((f) => f.mark)).toEqual([undefined, 'ok', 'ok', 'ok', 'ok', 'unknown']);
  expect(figures.at(-1)?.detail).toBe('everything is known');
});

test('lists are called unread only after a request has failed', () => {
  const detail = (error?: unknown) => figuresOf({ components: components({ complete: false, error }), ...unread }).at(-1)?.detail;
  expect(detail()).toBe(' ');
  expect(detail(new Error('refused'))).toBe('not every list was read');
});

test('sessions have a limit only if all servers that report have one', () => {
  const overview = { sessions: { rds_sessions: 5 }, kinds: [], problems: [] } as unknown as Overview;
  const server = (session_count?: number, max_sessions_count_configured?: number) =>
    ({ session_count, details: { max_sessions_count_configured } }) as RDSServer;
  const detail = (...rds: RDSServer[]) =>
    figuresOf({ components: components({ complete: true }), overview, servers: [], rds, alerts: [] })[0]?.detail;
  expect(detail(server(5, 20), server())).toBe('of 20, 25 %');
  expect(detail(server(5, 20), server(0))).toBe(' ');
});
