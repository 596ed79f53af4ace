import { expect, test } from 'vitest';
import { isTyped } from './ManyField';

test('one more letter or any deletion counts as typed, a choice from the list does not', () => {
  expect(isTyped('insertReplacementText', 'war', 'warn')).toBe(false);
  expect(isTyped(undefined, '', 'warn')).toBe(false);
  expect(isTyped('insertText', 'war', 'warn')).toBe(true);
  expect(isTyped('deleteContentBackward', 'warni', 'warn')).toBe(true);
  expect(isTyped('deleteWordBackward', 'warn of', 'warn')).toBe(true);
});
