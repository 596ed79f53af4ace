import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Throttle } from './throttle';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('jobs start at most once per interval, and a newer one replaces the one that waits', async () => {
  const throttle = new Throttle(3000);
  const started: string[] = [];
  const job = (name: string) => () => {
    started.push(name);
    return Promise.resolve();
  };
  throttle.run(job('first'));
  throttle.run(job('second'));
  throttle.run(job('third'));
  await vi.advanceTimersByTimeAsync(2999);
  expect(started).toEqual(['first']);
  await vi.advanceTimersByTimeAsync(1);
  expect(started).toEqual(['first', 'third']);
  await vi.advanceTimersByTimeAsync(10_000);
  throttle.run(job('later'));
  expect(started).toEqual(['first', 'third', 'later']);
});

test('a job waits until a slow one has ended, also with an error', async () => {
  const throttle = new Throttle(3000);
  let fail = (_: Error) => {};
  throttle.run(() => new Promise((_, reject) => (fail = reject)));
  const second = vi.fn(() => Promise.resolve());
  throttle.run(second);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(second).not.toHaveBeenCalled();
  fail(new Error('refused'));
  await vi.advanceTimersByTimeAsync(0);
  expect(second).toHaveBeenCalledOnce();
});
