import { expect, test } from 'vitest';
import type { Account, Run } from '../../api/posture';
import { runsOf } from './runs';

const run = (collectionId: string, day: number, status = 'Completed', cloudAccountId = 'a') =>
  ({ collectionId, cloudAccountId, status, startTime: `2026-11-0${day}T10:00:00Z` }) as unknown as Run;
const account = (last?: Run) => ({ cloudAccountId: 'a', lastCollection: last }) as unknown as Account;
const ids = (a: Account, runs: Run[]) => runsOf(a, runs).map((r) => `${r.collectionId} ${r.status}`);

test('the runs of an account are its own, newest first', () => {
  expect(ids(account(), [run('1', 1), run('x', 4, 'Failed', 'b'), run('2', 2)])).toEqual(['2 Completed', '1 Completed']);
  expect(ids(account(), [])).toEqual([]);
});

test('the last run of an account is among them if the newest runs of the organisation leave it out', () => {
  expect(ids(account(run('3', 3)), [run('x', 4, 'Failed', 'b')])).toEqual(['3 Completed']);
  expect(ids(account(run('3', 3)), [run('1', 1)])).toEqual(['3 Completed', '1 Completed']);
});

test('the status of a run is that of the list of runs, which is requested more often than the accounts', () => {
  expect(ids(account(run('3', 3, 'Started')), [run('3', 3)])).toEqual(['3 Completed']);
  expect(ids(account(run('3', 3)), [run('4', 4, 'Started'), run('3', 3)])).toEqual(['4 Started', '3 Completed']);
});
