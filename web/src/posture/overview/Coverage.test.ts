import { expect, test, vi } from 'vitest';
import type { Account } from '../../api/posture';
import { dateTime } from '../../parts/time';
import type { UnreadType } from '../unread';
import { coverageOf } from './Coverage';

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null })); // parts/time reads its setting when it is imported

const account = (n: number, status: string) =>
  ({
    cloudAccountId: `${n}`,
    cloudAccountName: `account-${n}`,
    accountStatus: { value: 'active' },
    eventStreamStatus: { value: 'connected' },
    lastCollection: {
      collectionId: `newest-${n}`,
      status,
      startTime: '2026-11-15T10:00:00Z',
      endTime: '2026-11-15T10:05:00Z',
      progress: { done: 1, total: 2, entities: 3 },
    },
  }) as unknown as Account;
const unread = (cloudAccountId: string, type: string): UnreadType => ({
  cloudAccountId,
  type,
  why: 'denied',
  since: '2026-11-15T10:00:00Z',
});
const titles = (accounts: Account[], types: UnreadType[]) => coverageOf(accounts, types).map((i) => i.title);

test('whether an account is current depends on its own newest run', () => {
  // The newest 100 runs of the organisation cannot include one of each of so many accounts.
  const accounts = Array.from({ length: 150 }, (_, n) => account(n, 'Completed'));
  expect(titles(accounts, [])).toEqual(['150 of 150 accounts are current']);
  expect(titles(accounts.slice(0, 1), [])).toEqual(['1 of 1 account is current']);
});

test('what was not read stays named while the account is read again', () => {
  const accounts = [account(1, 'CompletedWithErrors'), account(2, 'Completed'), account(3, 'Started')];
  const types = [unread('1', 'AWS.S3.Bucket'), unread('1', 'AWS.KMS.Key'), unread('3', 'AWS.S3.Bucket')];
  expect(titles(accounts, types)).toEqual([
    '2 types of account-1 not read',
    'account-3 is being read',
    '1 type of account-3 not read',
    '2 of 3 accounts are current',
  ]);
});

test('the last full read is that of a current account, with its day', () => {
  const failed = account(2, 'Failed');
  failed.lastCollection = { ...failed.lastCollection!, endTime: '2026-11-16T10:05:00Z' };
  const [item] = coverageOf([account(1, 'Completed'), failed], []);
  expect(item?.text).toBe(`Last full read ended ${dateTime('2026-11-15T10:05:00Z')}.`);
});
