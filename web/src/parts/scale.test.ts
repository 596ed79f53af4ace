import { expect, it } from 'vitest';
import { scaleOf } from './scale';

it('a scale ends at a round number not below the largest value', () => {
  expect(scaleOf(7)).toEqual({ top: 7.5, lines: [0, 2.5, 5, 7.5] });
  expect(scaleOf(0)).toEqual({ top: 1, lines: [0, 1] });
  expect(scaleOf(1234).top).toBe(1500);
  expect(scaleOf(8, 4)).toEqual({ top: 8, lines: [0, 2, 4, 6, 8] });
});
