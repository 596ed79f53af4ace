import { expect, test } from 'vitest';
import type { Run } from '../api/posture';
import { startsOf, unreadTypes } from './unread';

const run = (cloudAccountId: string, day: number, status: string, collectors: Record<string, object>) =>
  ({ cloudAccountId, startTime: `2026-11-0${day}T10:00:00Z`, status, collectorStatus: collectors }) as unknown as Run;
const denied = { status: 'Failure', errors: ['denied'] };
const read = { status: 'Success' };
const unread = (...runs: Run[]) => unreadTypes(runs).map((u) => `${u.cloudAccountId} ${u.type} ${u.why}`);

test('a type is unread if the newest run that covers it could not read it', () => {
  const older = run('a', 1, 'CompletedWithErrors', { 'AWS.S3.Bucket': denied, 'AWS.KMS.Key': denied, 'AWS.EC2.Vpc': read });
  const newer = run('a', 2, 'CompletedWithErrors', {
    'AWS.S3.Bucket': denied,
    'AWS.KMS.Key': read,
    'AWS.EC2.Vpc': { status: 'Timeout', message: 'not read in time' },
  });
  expect(unread(older, newer)).toEqual(['a AWS.S3.Bucket denied', 'a AWS.EC2.Vpc not read in time']);
});

test('a run of a few types says nothing about the others', () => {
  const full = run('a', 1, 'CompletedWithErrors', { 'AWS.S3.Bucket': denied, 'AWS.EC2.Instance': denied });
  const readAgain = run('a', 2, 'Completed', { 'AWS.EC2.Instance': read });
  expect(unread(readAgain, full)).toEqual(['a AWS.S3.Bucket denied']);
});

test('a run that has not finished decides nothing', () => {
  const full = run('a', 1, 'CompletedWithErrors', { 'AWS.S3.Bucket': denied });
  expect(unread(run('a', 2, 'Started', { 'AWS.S3.Bucket': read }), full)).toEqual(['a AWS.S3.Bucket denied']);
});

test('accounts are decided one by one', () => {
  const runs = [run('a', 2, 'Completed', { 'AWS.S3.Bucket': read }), run('b', 1, 'Failed', { 'AWS.S3.Bucket': { status: 'Failure' } })];
  expect(unread(...runs)).toEqual(['b AWS.S3.Bucket It could not be read']);
});

test('newer runs matter from the oldest run of an account that left a type unread', () => {
  const types = unreadTypes([
    run('a', 1, 'CompletedWithErrors', { 'AWS.S3.Bucket': denied }),
    run('a', 3, 'CompletedWithErrors', { 'AWS.KMS.Key': denied }),
    run('b', 2, 'CompletedWithErrors', { 'AWS.S3.Bucket': denied, 'AWS.KMS.Key': denied }),
  ]);
  expect(startsOf(types)).toEqual(
    new Map([
      ['a', '2026-11-01T10:00:00Z'],
      ['b', '2026-11-02T10:00:00Z'],
    ]),
  );
});
