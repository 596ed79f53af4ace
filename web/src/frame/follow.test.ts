import { expect, test } from 'vitest';
import { splitEvents } from './follow';

test('only complete events are taken from the stream', () => {
  expect(splitEvents('retry: 1000\n\nevent: pulse\ndata: {"a":1}\n\n: connected\n\nevent: pulse\ndata: {"a"')).toEqual({
    events: ['{"a":1}'],
    rest: 'event: pulse\ndata: {"a"',
  });
  expect(splitEvents('event: pulse\ndata: {"a"' + ':2}\n\n')).toEqual({ events: ['{"a":2}'], rest: '' });
  expect(splitEvents('')).toEqual({ events: [], rest: '' });
});
