import { expect, onTestFinished, test, vi } from 'vitest';
import { sleep, splitEvents } from './follow';

test('only complete events are taken from the stream', () => {
  expect(splitEvents('retry: 1000\n\nevent: pulse\ndata: {"a":1}\n\n: connected\n\nevent: pulse\ndata: {"a"')).toEqual({
    events: ['{"a":1}'],
    rest: 'event: pulse\ndata: {"a"',
  });
  expect(splitEvents('event: pulse\ndata: {"a"' + ':2}\n\n')).toEqual({ events: ['{"a":2}'], rest: '' });
  expect(splitEvents('')).toEqual({ events: [], rest: '' });
});

test('a sleep ends with its time or its signal, and leaves no listener and no timer', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const stop = new AbortController();
  const added = vi.spyOn(stop.signal, 'addEventListener');
  const removed = vi.spyOn(stop.signal, 'removeEventListener');
  const slept = sleep(1000, stop.signal);
  await vi.advanceTimersByTimeAsync(1000);
  await slept;
  expect(removed.mock.calls).toEqual(added.mock.calls);
  const woken = sleep(1000, stop.signal);
  stop.abort();
  await woken;
  await sleep(1000, stop.signal);
  expect(vi.getTimerCount()).toBe(0);
});
