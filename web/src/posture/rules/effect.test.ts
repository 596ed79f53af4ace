import { expect, test } from 'vitest';
import { accountsWithNew, columnsOf, effect } from './effect';

test('what enabling a rule would do', () => {
  expect(effect({ violating: 0, compared: 0, accounts: 0, level: 'High', own: 0 })).toBe('no finding is raised.');
  expect(effect({ violating: 6, compared: 6, accounts: 2, level: 'High', own: 0, other: { name: 'No token', count: 6 } })).toBe(
    '6 new findings of level High in 2 accounts. All 6 resources already have “No token”.',
  );
  expect(effect({ violating: 3, compared: 3, accounts: 1, newAccounts: 1, level: 'Low', own: 1, other: { name: 'X', count: 2 } })).toBe(
    '2 new findings of level Low in 1 account. 1 finding is there already. 2 resources already have “X”.',
  );
  expect(effect({ violating: 1, compared: 1, accounts: 1, level: 'Low', own: 1, other: { name: 'X', count: 1 } })).toBe(
    '1 finding is there already. The resource already has “X”.',
  );
});

test('what was not compared is not counted', () => {
  const many = { violating: 2500, compared: 1000, accounts: 30, level: 'High' };
  expect(effect({ ...many, own: 0 })).toBe('Up to 2,500 new findings of level High in 30 accounts.');
  expect(effect({ ...many, own: 1, newAccounts: 30, other: { name: 'X', count: 1000 } })).toBe(
    'Up to 2,499 new findings of level High in 30 accounts. At least 1 finding is there already. At least 1,000 resources already have “X”.',
  );
});

test('until the existing findings are known, no finding is called new, and no bound is given', () => {
  const pending = { violating: 6, compared: undefined, accounts: 2, level: 'High', own: 0 };
  expect(effect(pending)).toBe('6 findings of level High in 2 accounts.');
  expect(effect({ ...pending, compared: 0 })).toBe('Up to 6 new findings of level High in 2 accounts.'); // the existing findings could not be read
});

test('only the accounts of the new findings are counted; if they are not known, none are', () => {
  const some = { violating: 3, compared: 3, accounts: 2, level: 'Low', own: 2 };
  expect(effect({ ...some, newAccounts: 1 })).toBe('1 new finding of level Low in 1 account. 2 findings are there already.');
  expect(effect({ ...some, newAccounts: undefined })).toBe('1 new finding of level Low. 2 findings are there already.');
});

test('an account has new findings if more of its resources violate the rule than have a finding', () => {
  const violating = [
    { id: 'a', violating: 2 },
    { id: 'b', violating: 1 },
    { id: 'c', violating: 1 },
    { id: 'd', violating: 0 },
  ];
  expect(
    accountsWithNew(violating, [
      { value: 'a', count: 1 },
      { value: 'b', count: 1 },
    ]),
  ).toBe(2);
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
