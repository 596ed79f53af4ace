import { expect, test, vi } from 'vitest';
import type { Account, Run } from '../../api/posture';
import { coverageOf } from './Coverage';

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null })); // times are written in the zone that the browser keeps

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
const run = (collectionId: string, cloudAccountId: string, ...unread: string[]) =>
  ({
    collectionId,
    cloudAccountId,
    status: 'CompletedWithErrors',
    startTime: '2026-11-15T10:00:00Z',
    collectorStatus: { 'AWS.EC2.Vpc': { status: 'Success' }, ...Object.fromEntries(unread.map((t) => [t, { status: 'Failure' }])) },
  }) as unknown as Run;
const titles = (accounts: Account[], incomplete: Run[]) => coverageOf(accounts, incomplete).map((i) => i.title);

test('an account is current by its own newest run, whether that is in the list of runs or not', () => {
  const accounts = Array.from({ length: 150 }, (_, n) => account(n, 'Completed'));
  expect(titles(accounts, [])).toEqual(['150 of 150 accounts are current']);
  expect(titles(accounts.slice(0, 1), [])).toEqual(['1 of 1 account is current']);
});

test('only the newest run says what was not read', () => {
  const accounts = [account(1, 'CompletedWithErrors'), account(2, 'Completed'), account(3, 'Started')];
  const incomplete = [
    run('newest-1', '1', 'AWS.S3.Bucket', 'AWS.KMS.Key'),
    run('older-2', '2', 'AWS.S3.Bucket'),
    run('older-3', '3', 'AWS.S3.Bucket'),
  ];
  expect(titles(accounts, incomplete)).toEqual(['2 types of account-1 not read', 'account-3 is being read', '2 of 3 accounts are current']);
});
