import { expect, it } from 'vitest';
import { nearestPlace } from './arrows';

const grid = [
  { x: 0, y: 0 },
  { x: 10, y: 0 },
  { x: 20, y: 0 },
  { x: 0, y: 10 },
  { x: 10, y: 11 },
];

it('the arrow keys go to the nearest place straight ahead', () => {
  expect(nearestPlace({ x: 0, y: 0 }, grid, 'ArrowRight')).toBe(1);
  expect(nearestPlace({ x: 10, y: 0 }, grid, 'ArrowDown')).toBe(4);
  expect(nearestPlace({ x: 10, y: 11 }, grid, 'ArrowUp')).toBe(1);
  expect(nearestPlace({ x: 20, y: 0 }, grid, 'ArrowRight')).toBe(-1);
  expect(nearestPlace({ x: 0, y: 0 }, grid, 'Enter')).toBe(-1);
});
