import { QueryClient } from '@tanstack/react-query';
import { afterEach, expect, test, vi } from 'vitest';
import { posture, type Run } from '../api/posture';
import { incompleteRunsQuery } from './data';

const run = (collectionId: string) => ({ collectionId }) as Run;
const page = (continuationToken: string | undefined, ...results: Run[]) => ({
  results,
  paginationInfo: { totalCount: 2, continuationToken },
});

afterEach(() => vi.restoreAllMocks());

test('the runs that did not read everything are read to the last page', async () => {
  const post = vi
    .spyOn(posture, 'post')
    .mockResolvedValueOnce(page('more', run('b')))
    .mockResolvedValueOnce(page(undefined, run('a')));
  expect((await new QueryClient().fetchQuery(incompleteRunsQuery())).map((r) => r.collectionId)).toEqual(['b', 'a']);
  expect(post.mock.calls.map(([, options]) => options?.body)).toMatchObject([
    { paginationInfo: { continuationToken: null } },
    { paginationInfo: { continuationToken: 'more' } },
  ]);
});
