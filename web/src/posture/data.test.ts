import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { posture, type CollectionQuery, type Run } from '../api/posture';
import { unreadQuery } from './data';

const at = (day: number) => `2026-11-0${day}T10:00:00Z`;
const run = (cloudAccountId: string, day: number, types: Record<string, string>) =>
  ({
    cloudAccountId,
    startTime: at(day),
    status: Object.values(types).every((s) => s === 'Success') ? 'Completed' : 'CompletedWithErrors',
    collectorStatus: Object.fromEntries(Object.entries(types).map(([type, status]) => [type, { status }])),
  }) as unknown as Run;

/** Serves runs as the server does, in pages of two, and returns the filters of the requests. */
function serve(...runs: Run[]): CollectionQuery['filters'][] {
  const filters: CollectionQuery['filters'][] = [];
  vi.spyOn(posture, 'post').mockImplementation((async (_path: string, { body }: { body: CollectionQuery }) => {
    filters.push(body.filters);
    const f = body.filters ?? {};
    const fits = runs
      .filter((r) => !f.cloudAccountId || r.cloudAccountId === f.cloudAccountId)
      .filter((r) => f.statuses?.includes(r.status) && r.startTime >= (f.startedFrom ?? ''))
      .sort((a, b) => b.startTime.localeCompare(a.startTime));
    const from = Number(body.paginationInfo?.continuationToken ?? 0);
    const continuationToken = from + 2 < fits.length ? String(from + 2) : undefined;
    return { results: fits.slice(from, from + 2), paginationInfo: { totalCount: fits.length, continuationToken } };
  }) as never);
  return filters;
}

const unread = async (account?: string) =>
  (await new QueryClient().fetchQuery(unreadQuery(account))).map((u) => `${u.cloudAccountId} ${u.type}`).sort();

afterEach(() => vi.restoreAllMocks());

test('unread types are found on every page of the runs', async () => {
  serve(
    run('a', 4, { T: 'Failure' }),
    run('b', 3, { T: 'Failure' }),
    run('c', 2, { T: 'Failure' }),
    run('c', 1, { T: 'Failure', U: 'Timeout' }),
  );
  expect(await unread()).toEqual(['a T', 'b T', 'c T', 'c U']);
  expect(await unread('c')).toEqual(['c T', 'c U']);
});

test('complete runs are requested only for accounts with unread types, and only from the run that left them unread', async () => {
  const filters = serve(
    run('a', 2, { T: 'Failure', U: 'Failure' }),
    run('a', 3, { T: 'Success' }), // limited to one type
    run('b', 3, { T: 'Success' }),
  );
  expect(await unread()).toEqual(['a U']);
  expect(filters.slice(1)).toEqual([{ statuses: ['Completed'], cloudAccountId: 'a', startedFrom: at(2) }]);
});

test('complete runs of many accounts are requested at once', async () => {
  const accounts = ['a', 'b', 'c', 'd', 'e'];
  const filters = serve(...accounts.map((a, i) => run(a, i + 1, { T: 'Failure' })), run('b', 6, { T: 'Success' }));
  expect(await unread()).toEqual(['a T', 'c T', 'd T', 'e T']);
  expect(filters.at(-1)).toEqual({ statuses: ['Completed'], startedFrom: at(1) });
});

test('nothing more is requested if every run was complete', async () => {
  const filters = serve(run('a', 1, { T: 'Success' }));
  expect(await unread()).toEqual([]);
  expect(filters).toHaveLength(1);
});
