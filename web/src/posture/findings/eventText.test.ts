import { expect, test } from 'vitest';
import { eventText } from './eventText';

const time = '2026-11-01T00:00:00Z';

test('an event names who caused it, and why a finding was resolved whose violation may still exist', () => {
  expect(eventText({ time, what: 'raised' })).toBe('Raised');
  expect(eventText({ time, what: 'suppressed', by: 'bob' })).toBe('Suppressed by bob');
  expect(eventText({ time, what: 'resolved', reason: 'the region is not read any more' })).toBe(
    'Resolved: the region is not read any more',
  );
});
