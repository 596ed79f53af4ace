import { expect, test } from 'vitest';
import { choiceOf, withoutFilters } from './address';

test('an address names one of the choices, and no inherited member', () => {
  const tabs = { keys: 'Keys', audit: 'Audit' };
  expect(choiceOf(tabs, 'audit', 'keys')).toBe('audit');
  for (const given of [undefined, '', 'none', 'toString', 'constructor', '__proto__']) expect(choiceOf(tabs, given, 'keys')).toBe('keys');
});

test('clearing the filters keeps what is shown, and the text of a query', () => {
  expect(withoutFilters({ q: 'ssh', level: 'High', sort: 'name' }, '/findings')).toStrictEqual({ q: undefined, level: undefined });
  expect(withoutFilters({ q: 'g.V()', account: 'a' }, '/explore')).toStrictEqual({ account: undefined });
  expect(withoutFilters({ q: 'tag.a = b', lang: 'search' }, '/explore')).toStrictEqual({});
  expect(withoutFilters({ q: 'g.V()' }, '/rules/new')).toStrictEqual({});
});
