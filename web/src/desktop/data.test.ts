import { expect, test } from 'vitest';
import { currentPulse, paceText } from '../frame/pulse';
import { setPaused } from './data';

test('a paused screen does not say that it polls', () => {
  expect(paceText(currentPulse())).toBe(', every 15 s');
  setPaused(true);
  expect(paceText(currentPulse())).toBe(', paused');
  setPaused(false);
  expect(paceText(currentPulse())).toBe(', every 15 s');
});
