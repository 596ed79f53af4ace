import { expect, test } from 'vitest';
import { partName } from './partName';

test('parts are named in words', () => {
  expect(partName('enrollment es1.corp.example')).toBe('enrolment server es1.corp.example');
  expect(partName('certificates corp CA')).toBe('certificate server corp CA');
  expect(partName('replication cs02.corp.example')).toBe('replication to cs02.corp.example');
  expect(partName('service BLAST_SECURE_GATEWAY')).toBe('Blast Secure Gateway');
  expect(partName('service SOME_OTHER')).toBe('some other');
  expect(partName('host DC0_C0_H0')).toBe('host DC0_C0_H0');
  expect(partName('cs02.corp.example')).toBe('cs02.corp.example');
  expect(partName(undefined)).toBe('');
});
