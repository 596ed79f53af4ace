import { expect, test } from 'vitest';
import { columnsOf, effect } from './effect';

test('what enabling a rule would do', () => {
  expect(effect({ violating: 0, compared: 0, accounts: 0, level: 'High', own: 0 })).toBe('no finding is raised.');
  expect(effect({ violating: 6, compared: 6, accounts: 2, level: 'High', own: 0, other: { name: 'No token', count: 6 } })).toBe(
    '6 new findings of level High in 2 accounts. All 6 resources already have “No token”.',
  );
  expect(effect({ violating: 3, compared: 3, accounts: 1, level: 'Low', own: 1, other: { name: 'X', count: 2 } })).toBe(
    '2 new findings of level Low in 1 account. 1 finding is there already. 2 resources already have “X”.',
  );
  expect(effect({ violating: 1, compared: 1, accounts: 1, level: 'Low', own: 1, other: { name: 'X', count: 1 } })).toBe(
    '1 finding is there already. The resource already has “X”.',
  );
});

test('what was not compared is not counted', () => {
  const many = { violating: 2500, compared: 1000, accounts: 30, level: 'High' };
  expect(effect({ ...many, own: 0 })).toBe('Up to 2,500 new findings of level High in 30 accounts.');
  expect(effect({ ...many, own: 1, other: { name: 'X', count: 1000 } })).toBe(
    'Up to 2,499 new findings of level High in 30 accounts. At least 1 finding is there already. At least 1,000 resources already have “X”.',
  );
});

test('until the existing findings are known, no finding is called new, and no bound is given', () => {
  const pending = { violating: 6, compared: undefined, accounts: 2, level: 'High', own: 0 };
  expect(effect(pending)).toBe('6 findings of level High in 2 accounts.');
  expect(effect({ ...pending, compared: 0 })).toBe('Up to 6 new findings of level High in 2 accounts.'); // the existing findings could not be read
});

test('no more existing findings are counted than violating resources', () => {
  expect(effect({ violating: 1, compared: 1, accounts: 1, level: 'Low', own: 2 })).toBe('1 finding is there already.');
});

test('columns of a dry run are properties of the resources that it found, rather than of connected resources', () => {
  const found = [{ properties: [{ name: 'tokens' }, { name: 'endpoint' }] }];
  expect(columnsOf(['cidr', 'endpoint', 'cidr', 'port', 'tokens'], found)).toEqual(['endpoint', 'tokens']);
  expect(columnsOf(['cidr', 'port', 'tokens'], found)).toEqual(['tokens', 'cidr']);
  expect(columnsOf(['cidr'], [])).toEqual(['cidr']);
});
