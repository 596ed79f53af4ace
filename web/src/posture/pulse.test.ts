import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { becomesStale, changedKinds, isDeep, refetchStale } from './pulse';

const pulse = { findings: '1', entities: '1', rules: '1', accounts: '1', collections: '1' };

test('a query is refetched only when a change concerns it', () => {
  const findings = changedKinds(pulse, { ...pulse, findings: '2', lastChangeTime: '2026-01-01T00:00:00Z' });
  expect(findings).toEqual(['findings']);
  expect(becomesStale(['findings', 'query', {}], findings)).toBe(true);
  expect(becomesStale(['verdicts', 'rules'], findings)).toBe(true);
  expect(becomesStale(['rules'], findings)).toBe(false);
  expect(becomesStale(['accounts'], findings)).toBe(false);
  expect(becomesStale(['session'], findings)).toBe(false);
  const runs = changedKinds(pulse, { ...pulse, collections: '2' });
  expect(becomesStale(['accounts'], runs)).toBe(true);
  expect(becomesStale(['runs', '', 100], runs)).toBe(true);
  expect(becomesStale(['rules'], changedKinds(pulse, { ...pulse, rules: '2' }))).toBe(true);
  expect(becomesStale(['findings'], changedKinds(pulse, pulse))).toBe(false);
});

test('a list of which many pages were loaded is not refetched after a change', () => {
  expect(isDeep({ pages: Array(6).fill({}) })).toBe(true);
  expect(isDeep({ pages: [{}] })).toBe(false);
  expect(isDeep(undefined)).toBe(false);
  expect(isDeep([])).toBe(false);
});

test('a further page that a user asked for is loaded although something changes', async () => {
  const client = new QueryClient();
  const asked: number[] = [];
  let answer = () => {};
  const observer = new InfiniteQueryObserver(client, {
    queryKey: ['changes'],
    queryFn: ({ pageParam }) => {
      asked.push(pageParam);
      return pageParam === 1 ? Promise.resolve('newest') : new Promise<string>((done) => (answer = () => done('older')));
    },
    initialPageParam: 1,
    getNextPageParam: (_last, pages) => pages.length + 1,
  });
  const stop = observer.subscribe(() => {});
  await observer.refetch();
  const loaded = observer.fetchNextPage();
  const again = refetchStale(client, ['entities']);
  answer();
  await loaded;
  expect(observer.getCurrentResult().data?.pages).toEqual(['newest', 'older']);
  await expect.poll(() => asked).toEqual([1, 2, 1, 2]);
  answer();
  await again;
  expect(observer.getCurrentResult().data?.pages).toEqual(['newest', 'older']);
  stop();
});
