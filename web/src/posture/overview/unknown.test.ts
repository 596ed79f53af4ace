import { expect, test } from 'vitest';
import type { Verdicts } from '../../api/posture';
import { unknownText } from './unknown';

const verdict = (cloudAccountId: string, unknown: number) => ({
  ruleId: 'r',
  cloudAccountId,
  violating: 0,
  passing: 1,
  unknown,
  notApplicable: 0,
});
const verdicts = (results: Verdicts['results'], ...unread: string[]) =>
  ({ totalCount: 0, results, unread: unread.map((cloudAccountId) => ({ cloudAccountId })) }) as Verdicts;

test('the accounts with unknown verdicts are counted', () => {
  expect(unknownText(verdicts([verdict('a', 2), verdict('a', 1), verdict('b', 0)], 'b', 'c'))).toBe('verdicts in 1 account');
  expect(unknownText(verdicts([verdict('a', 2), verdict('b', 1)]))).toBe('verdicts in 2 accounts');
});

test('without unknown verdicts the accounts with unread types are counted', () => {
  expect(unknownText(verdicts([verdict('a', 0)], 'b', 'b', 'c'))).toBe('2 accounts not fully read');
  expect(unknownText(verdicts([verdict('a', 0)]))).toBe('everything was read');
});
