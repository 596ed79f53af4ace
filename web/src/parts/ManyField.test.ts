import { expect, test } from 'vitest';
import { isTyped } from './ManyField';

test('a choice from the list is not typed, and one letter more or any deletion is', () => {
  expect(isTyped('insertReplacementText', 'war', 'warn')).toBe(false);
  expect(isTyped(undefined, '', 'warn')).toBe(false);
  expect(isTyped('insertText', 'war', 'warn')).toBe(true);
  expect(isTyped('deleteContentBackward', 'warni', 'warn')).toBe(true);
  expect(isTyped('deleteWordBackward', 'warn of', 'warn')).toBe(true);
});
