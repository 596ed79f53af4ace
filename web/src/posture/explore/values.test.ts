import { expect, test } from 'vitest';
import { tableOf } from './values';

test('counts of several accounts are added, largest first', () => {
  expect(tableOf([{ a: 1, b: 5 }])).toEqual({
    columns: ['Key', 'Count'],
    rows: [
      ['b', 5],
      ['a', 1],
    ],
  });
  const types = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`type ${i}`, i]));
  expect(tableOf([types, { 'type 3': 100 }]).rows[0]).toEqual(['type 3', 103]);
});

test('members of projections are columns', () => {
  expect(tableOf([{ role: 'r1', administrator: true }, { role: 'r2' }])).toEqual({
    columns: ['role', 'administrator'],
    rows: [
      ['r1', true],
      ['r2', undefined],
    ],
  });
});

test('numbers of projections are not added', () => {
  expect(
    tableOf([
      { ports: 1, groups: 2 },
      { ports: 3, groups: 4 },
    ]).rows,
  ).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test('other values have one column', () => {
  expect(tableOf(['x', 2, ['y']])).toEqual({ columns: ['Value'], rows: [['x'], [2], [['y']]] });
  expect(tableOf([]).rows).toEqual([]);
});
