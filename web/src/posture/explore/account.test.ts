import { expect, test } from 'vitest';
import { accountOf } from './account';

test('a search of all accounts names no account, and Gremlin queries the chosen account or else the first', () => {
  expect(accountOf('all', 'search', 'a')).toBe('');
  expect(accountOf(undefined, 'search', 'a')).toBe('');
  expect(accountOf('b', 'search', 'a')).toBe('b');
  expect(accountOf('all', 'gremlin', 'a')).toBe('all');
  expect(accountOf(undefined, 'gremlin', 'a')).toBe('a');
  expect(accountOf('b', 'gremlin', 'a')).toBe('b');
  expect(accountOf(undefined, 'gremlin', undefined)).toBe('');
});
