import { expect, test } from 'vitest';
import { draftOfScope, parseTag, scopeOf } from './scope';

const empty = { rules: [], accounts: [], tags: [], resources: [] };

test('parts of a scope without a value are left out', () => {
  expect(scopeOf(empty)).toEqual({});
  expect(scopeOf({ ...empty, rules: ['r1'] })).toEqual({ ruleIds: ['r1'] });
});

test('values of a tag are collected under its name, and may contain an equals sign', () => {
  const scope = scopeOf({ ...empty, tags: ['env=dev', 'env=test', 'query=a=b'] });
  expect(scope).toEqual({ cloudTags: { env: ['dev', 'test'], query: ['a=b'] } });
  expect(draftOfScope(scope).tags).toEqual(['env=dev', 'env=test', 'query=a=b']);
});

test('a tag has a name and a value', () => {
  expect(parseTag('env=dev')).toEqual({ value: 'env=dev' });
  for (const bad of ['env', '=dev', 'env=']) expect(parseTag(bad)).toHaveProperty('error');
});
