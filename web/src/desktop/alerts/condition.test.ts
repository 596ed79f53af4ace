import { expect, test, vi } from 'vitest';
import { conditionText, withType } from './condition';

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null })); // parts/time reads its setting when it is imported

test('a condition that gets another type has the defaults of that type', () => {
  const start = { type: 'STATUS' as const, statuses: ['ERROR'], kind: 'FARM' };
  const certificate = withType(start, 'CERTIFICATE');
  expect(certificate).toEqual({ ...start, type: 'CERTIFICATE', days: 30 });
  expect(conditionText({ condition: certificate, for_seconds: 0 })).toBe('a certificate of a farm expires within 30 days');
  expect(withType(start, 'COUNT')).toEqual({ ...start, type: 'COUNT', measure: 'session_count', operator: 'ABOVE', value: 0 });
});

test('a condition keeps its own values when its type changes and changes back', () => {
  const own = { type: 'CERTIFICATE' as const, days: 7 };
  expect(withType(withType(own, 'STATUS'), 'CERTIFICATE')).toEqual(own);
});
