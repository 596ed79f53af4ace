import { expect, test } from 'vitest';
import type { Pod } from '../api/desktop';
import { byStatus, fromPod, slowestRoundTrip } from './components';
import type { Status } from './status';

const farm = (name: string, status: Status) => ({ name, status });

test('an error comes before warnings, and names are in numeric order', () => {
  const farms = [farm('farm10', 'warn'), farm('farm2', 'warn'), farm('a', 'ok'), farm('z', 'error')];
  expect([...farms].sort(byStatus).map((f) => f.name)).toEqual(['z', 'farm2', 'farm10', 'a']);
});

const pod = (...endpoints: [enabled: boolean, roundTrip?: number][]) =>
  ({ status: 'OK', endpoints: endpoints.map(([enabled, roundtrip_time]) => ({ enabled, roundtrip_time })) }) as Pod;

test('the round trip to a pod is the slowest measured one of its enabled endpoints', () => {
  expect(slowestRoundTrip(pod([true, 3], [true, 12], [true], [false, 250]))).toBe(12);
  expect(slowestRoundTrip(pod([true, 0]))).toBe(0);
  expect(slowestRoundTrip(pod([true], [false, 250]))).toBeUndefined();
  expect(slowestRoundTrip(pod())).toBeUndefined();
});

test('a round trip that was not measured is unknown, not short', () => {
  expect(fromPod(pod([true])).measure).toBe('unknown');
  expect(fromPod(pod([true, 0])).measure).toBe('<1 ms');
  expect(fromPod(pod([true, 12])).measure).toBe('12 ms');
});
