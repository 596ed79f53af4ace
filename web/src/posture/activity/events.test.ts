import { expect, test } from 'vitest';
import type { EntityChange, Finding } from '../../api/posture';
import { barsOf, eventsOf } from './events';

const change = (entityId: string, lastUpdateTime: string) => ({ entityId, lastUpdateTime, changeType: 'UPDATE' }) as EntityChange;
const finding = (entityId: string, creationTime: string, resolvedTime?: string) => ({ entityId, creationTime, resolvedTime }) as Finding;
const from = Date.parse('2026-01-01T00:00:00Z');

test('a change has the findings of its resource that were raised right after it', () => {
  const soon = finding('a', '2026-01-01T10:00:05Z');
  const events = eventsOf(
    [change('a', '2026-01-01T10:00:00Z')],
    [soon, finding('b', '2026-01-01T10:00:05Z'), finding('a', '2026-01-01T11:00:00Z'), finding('a', '2026-01-01T09:59:00Z')],
    from,
    false,
  );
  expect(events.map((e) => e.what)).toEqual(['raised', 'raised', 'raised', 'change', 'raised']);
  expect(events.flatMap((e) => (e.what === 'change' ? e.raised : []))).toEqual([soon]);
});

test('a finding belongs to the last change before it', () => {
  const late = finding('a', '2026-01-01T10:05:00Z');
  const events = eventsOf([change('a', '2026-01-01T10:04:00Z'), change('a', '2026-01-01T10:00:00Z')], [late], from, false);
  expect(events.map((e) => (e.what === 'change' ? e.raised.length : e.what))).toEqual(['raised', 1, 0]);
});

test('findings older than the changes that were read wait for the next page', () => {
  const changes = [change('a', '2026-01-01T10:00:00Z')];
  const findings = [finding('b', '2026-01-01T08:00:00Z', '2026-01-01T12:00:00Z')];
  expect(eventsOf(changes, findings, from, true).map((e) => e.what)).toEqual(['resolved', 'change']);
  expect(eventsOf(changes, findings, from, false).map((e) => e.what)).toEqual(['resolved', 'change', 'raised']);
  expect(eventsOf(changes, findings, Date.parse('2026-01-01T09:00:00Z'), false).map((e) => e.what)).toEqual(['resolved', 'change']);
});

test('bars have every step of the range, also those without a change', () => {
  const hour = 3_600_000;
  const bars = barsOf(
    { from, to: from + 3 * hour, step: hour },
    [{ from: '2026-01-01T01:00:00Z', added: 1, updated: 2, deleted: 3 }],
    [finding('a', '2026-01-01T02:30:00Z'), finding('a', '2025-12-31T23:59:59Z')],
  );
  expect(bars).toEqual([
    { from, changes: 0, raised: 0 },
    { from: from + hour, changes: 6, raised: 0 },
    { from: from + 2 * hour, changes: 0, raised: 1 },
  ]);
});
