import { expect, test } from 'vitest';
import { outcomeText } from './JumpBox';

test('the jump box does not say that nothing has a name of one character, which the server does not search', () => {
  expect(outcomeText('x', 0, false, false)).toBe('Type more of the name.');
  expect(outcomeText('x', 1, false, false)).toBeUndefined();
});

test('the jump box does not say that nothing has a name if a kind of target was not searched', () => {
  const unsearched = ['Controls were not searched. The server is busy'];
  expect(outcomeText('name', 0, false, false, unsearched)).toBe('Nothing was found. Controls were not searched. The server is busy');
  expect(outcomeText('name', 1, false, false, unsearched)).toBe('Controls were not searched. The server is busy');
  expect(outcomeText('name', 1, true, false, unsearched)).toBe(
    'Only 1 match is shown. Type more of the name to find the others. Controls were not searched. The server is busy',
  );
  expect(outcomeText('name', 0, false, true, unsearched)).toBe('Searching…');
});

test('the jump box does not say both that there is nothing and that there is more', () => {
  expect(outcomeText('name', 0, false, false)).toBe('Nothing has this name.');
  expect(outcomeText('name', 0, true, false)).toBe('Nothing was found, but the search did not reach the end. Type more of the name.');
  expect(outcomeText('name', 0, true, true)).toBe('Searching…');
  expect(outcomeText('name', 1, true, false)).toBe('Only 1 match is shown. Type more of the name to find the others.');
  expect(outcomeText('name', 40, true, false)).toBe('Only 40 matches are shown. Type more of the name to find the others.');
  expect(outcomeText('name', 40, false, true)).toBeUndefined();
});
