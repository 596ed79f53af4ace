import { expect, test } from 'vitest';
import { dateOf, timeOf } from './dates';

// The summer time of New York is four hours behind UTC.
process.env.TZ = 'America/New_York';
const start = '00:00:00';
const end = '23:59:59';

test('a date field shows the local date', () => {
  expect(dateOf('2026-07-02T03:59:59Z')).toBe('2026-07-01');
  expect(dateOf(undefined)).toBe('');
});

test('a date is a local time', () => {
  expect(timeOf('2026-07-01', start)).toBe('2026-07-01T04:00:00.000Z');
  expect(timeOf('2026-07-01', end)).toBe('2026-07-02T03:59:59.000Z');
  expect(timeOf('', start)).toBeUndefined();
});

test('the time that a date field was filled from is kept until another date is chosen', () => {
  const filledFrom = '2026-07-01T18:30:00Z';
  expect(timeOf(dateOf(filledFrom), start, filledFrom)).toBe(filledFrom);
  expect(timeOf('2026-07-02', start, filledFrom)).toBe('2026-07-02T04:00:00.000Z');
  expect(timeOf('', start, filledFrom)).toBeUndefined();
});

test('the end of a day is the same after any number of saves', () => {
  const first = timeOf('2026-07-01', end);
  expect(timeOf(dateOf(first), end)).toBe(first);
});
