import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { posture, type Finding, type FindingFilters } from '../../api/posture';

interface Page<T> {
  results: T[];
  continuationToken?: string;
}

/** Reads page after page until there are no more, or at least as many results as the maximum. */
export async function readUpTo<T>(most: number, page: (token: string | null) => Promise<Page<T>>): Promise<{ results: T[]; cut: boolean }> {
  const results: T[] = [];
  let token: string | null = null;
  do {
    const next: Page<T> = await page(token);
    results.push(...next.results);
    token = next.continuationToken ?? null;
  } while (token && results.length < most);
  return { results, cut: !!token };
}

/** At most this many raised and this many resolved findings are read: five pages of each, which are read again when something changes. */
export const mostFindings = 5000;

/** The findings that match, those with the newest value of a field first. */
export const newestFindings = (filters: FindingFilters, fieldName: 'creationTime' | 'lastUpdateTime') =>
  queryOptions({
    queryKey: ['findings', 'newest', filters, fieldName],
    queryFn: ({ signal }) =>
      readUpTo<Finding>(mostFindings, (continuationToken) =>
        posture.post('/v2/findings/query', {
          body: { filters, sorts: [{ fieldName, order: 'desc' }], paginationInfo: { pageSize: 1000, continuationToken } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
