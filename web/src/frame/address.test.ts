import { expect, test } from 'vitest';
import { choiceOf, formatSearch, joined, listOf, parseSearch, withoutFilters } from './address';

test('an address names one of the choices, and no inherited member', () => {
  const tabs = { keys: 'Keys', audit: 'Audit' };
  expect(choiceOf(tabs, 'audit', 'keys')).toBe('audit');
  for (const given of [undefined, '', 'none', 'toString', 'constructor', '__proto__']) expect(choiceOf(tabs, given, 'keys')).toBe('keys');
});

test('clearing the filters keeps the order, the query language and the text of a query', () => {
  expect(withoutFilters({ q: 'ssh', level: 'High', sort: 'name' }, '/findings')).toStrictEqual({ q: undefined, level: undefined });
  expect(withoutFilters({ q: 'g.V()', account: 'a' }, '/explore')).toStrictEqual({ account: undefined });
  expect(withoutFilters({ q: 'tag.a = b', lang: 'search' }, '/explore')).toStrictEqual({});
  expect(withoutFilters({ q: 'g.V()' }, '/rules/new')).toStrictEqual({});
});

test('a list in an address keeps values that contain commas', () => {
  const values = ['ops, data', 'C:\\', 'a\\,b', 'plain'];
  const { tag } = parseSearch(formatSearch({ tag: joined(values) }));
  expect(listOf(tag)).toEqual(values);
  expect(joined(['High', 'Low'])).toBe('High,Low');
  expect(joined([])).toBeUndefined();
});

test('a list in an address that was written without escapes reads as before', () => {
  expect(listOf('High,Low')).toEqual(['High', 'Low']);
  expect(listOf('a,,b,')).toEqual(['a', '', 'b', '']);
  expect(listOf('CORP\\ada')).toEqual(['CORP\\ada']);
  expect(listOf(undefined)).toEqual([]);
});
