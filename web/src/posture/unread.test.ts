import { expect, test } from 'vitest';
import type { Account, Run } from '../api/posture';
import { unreadNow } from './unread';

const account = (collectionId: string) => ({ lastCollection: { collectionId } }) as unknown as Account;
const run = (collectionId: string, collectorStatus: object) => ({ collectionId, collectorStatus }) as unknown as Run;

test('types that a newer run has read are not unread', () => {
  const runs = [
    run('a2', { 'AWS.S3.Bucket': { status: 'Failure', errors: ['denied'] }, 'AWS.EC2.Vpc': { status: 'Success' } }),
    run('a1', { 'AWS.KMS.Key': { status: 'Failure', errors: ['denied'] } }),
    run('b1', { 'AWS.SQS.Queue': { status: 'Failure', message: 'throttled' } }),
  ];
  expect([...unreadNow([account('a2'), account('b2')], runs)]).toEqual([['AWS.S3.Bucket', 'denied']]);
});
