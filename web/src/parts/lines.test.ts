import { describe, expect, it } from 'vitest';
import { columns, isolated } from './lines';

const line = (label: string, ...points: [number, number][]) => ({ label, points: points.map(([at, value]) => ({ at, value })) });

describe('columns', () => {
  it('are the times and values of a line', () => {
    expect(columns([line('a', [1, 10], [2, 20])])).toEqual([
      [1, 2],
      [10, 20],
    ]);
  });
  it('have null where nothing was measured', () => {
    expect(columns([line('a', [1, 10], [2, 20], [3, 30], [9, 90], [10, 100])])).toEqual([
      [1, 2, 3, 6, 9, 10],
      [10, 20, 30, null, 90, 100],
    ]);
  });
  it('have undefined at the times of another line', () => {
    expect(columns([line('a', [1, 10], [3, 30]), line('b', [2, 5], [4, 6])])).toEqual([
      [1, 2, 3, 4],
      [10, undefined, 30, undefined],
      [undefined, 5, undefined, 6],
    ]);
  });
  it('have the greatest and least values of a single line', () => {
    const points = [
      { at: 1, value: 5, least: 2, most: 9 },
      { at: 2, value: 6 },
    ];
    expect(columns([{ label: 'a', points }])).toEqual([
      [1, 2],
      [5, 6],
      [9, 6],
      [2, 6],
    ]);
  });
});

it('isolated finds values without a neighbour', () => {
  expect(isolated([1, null, 2, 3, null, 4])).toEqual([0, 5]);
  expect(isolated([1, undefined, 2, null, undefined, 3])).toEqual([5]);
  expect(isolated([])).toEqual([]);
});
