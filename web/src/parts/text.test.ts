import { expect, test } from 'vitest';
import { sentence, targetName } from './text';

test('a sentence begins with a capital, and names of hosts and regions stay as they are', () => {
  expect(sentence('the account is draft')).toBe('The account is draft');
  expect(sentence('cs1.pod3.example: it answers again')).toBe('cs1.pod3.example: it answers again');
  expect(sentence('eastus: access is denied')).toBe('eastus: access is denied');
  expect(sentence('eu-west-1: permission kms:GetKeyRotationStatus is missing')).toBe(
    'eu-west-1: permission kms:GetKeyRotationStatus is missing',
  );
});

test('targets of the audit have names to read, and other names stay as they are', () => {
  expect(['cloud_account_id', 'user_code', 'through', 'rule', 'id', '_id'].map(targetName)).toEqual([
    'cloud account',
    'user code',
    'up to record',
    'rule',
    'id',
    '_id',
  ]);
});
