import { expect, test, vi } from 'vitest';
import { differencesOf } from './Conflict';

// Conflict imports these components, but differencesOf does not render them.
vi.mock('./Button', () => ({ Button: () => null }));
vi.mock('./Dialog', () => ({ Dialog: () => null }));

const labels = { name: 'Name', tags: 'Tags', values: 'Parameters' };

test('a difference has the texts that the user sees, and an empty text equals a missing one', () => {
  expect(differencesOf(labels, { name: 'a', tags: ['x', 'y'] }, { name: 'a', tags: ['x'] })).toEqual([
    { label: 'Tags', mine: 'x, y', theirs: 'x' },
  ]);
  expect(differencesOf(labels, { name: '' }, {})).toEqual([]);
});

test('objects are compared member by member in any order, and an empty object equals a missing one', () => {
  expect(differencesOf(labels, { values: { days: 90, ports: [22, 3389] } }, { values: { days: 60, ports: [22, 3389] } })).toEqual([
    { label: 'Parameters', mine: 'days: 90; ports: 22, 3389', theirs: 'days: 60; ports: 22, 3389' },
  ]);
  expect(differencesOf(labels, { values: { b: 1, a: 2 } }, { values: { a: 2, b: 1 } })).toEqual([]);
  expect(differencesOf(labels, { values: {} }, {})).toEqual([]);
});
