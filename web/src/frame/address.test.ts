import { expect, test } from 'vitest';
import { choiceOf } from './address';

test('an address names one of the choices, and no inherited member', () => {
  const tabs = { keys: 'Keys', audit: 'Audit' };
  expect(choiceOf(tabs, 'audit', 'keys')).toBe('audit');
  for (const given of [undefined, '', 'none', 'toString', 'constructor', '__proto__']) expect(choiceOf(tabs, given, 'keys')).toBe('keys');
});
