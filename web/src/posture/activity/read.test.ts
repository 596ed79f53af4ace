import { expect, test } from 'vitest';
import { readUpTo } from './read';

/** Pages of two results: 0 and 1, then 2 and 3, and so on, until all are read. */
const pagesOf = (all: number) => async (token: string | null) => {
  const from = Number(token);
  const to = Math.min(from + 2, all);
  const results = Array.from({ length: to - from }, (_, i) => from + i);
  return to < all ? { results, continuationToken: String(to) } : { results };
};

test('all pages are read', async () => {
  expect(await readUpTo(6, pagesOf(0))).toEqual({ results: [], cut: false });
  expect(await readUpTo(6, pagesOf(5))).toEqual({ results: [0, 1, 2, 3, 4], cut: false });
  expect(await readUpTo(6, pagesOf(6))).toEqual({ results: [0, 1, 2, 3, 4, 5], cut: false });
});

test('results beyond the maximum are cut off, and the answer says so', async () => {
  expect(await readUpTo(6, pagesOf(7))).toEqual({ results: [0, 1, 2, 3, 4, 5], cut: true });
});
