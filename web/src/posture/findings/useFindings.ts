import { keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { posture, type Finding, type FindingPage } from '../../api/posture';
import type { Search } from '../../frame/address';
import { findingsQuery } from '../data';
import { isDeep } from '../pulse';
import { filtersOf, sortsOf, states, type State } from './filters';

const pageSize = 200;

/** The findings that match the filters of an address. Further pages are requested while the user scrolls. */
export function useFindings(search: Search) {
  const filters = filtersOf(search);
  const sorts = sortsOf(search);
  const query = useInfiniteQuery({
    queryKey: ['findings', 'list', filters, sorts],
    queryFn: ({ pageParam, signal }) =>
      posture.post('/v2/findings/query', { body: { filters, sorts, paginationInfo: { pageSize, continuationToken: pageParam } }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: FindingPage) => last.continuationToken ?? null,
    placeholderData: keepPreviousData,
    staleTime: Infinity, // until the server reports a change
    refetchOnWindowFocus: (q) => !isDeep(q.state.data),
    refetchOnMount: (q) => !isDeep(q.state.data),
  });
  const findings: Finding[] = query.data?.pages.flatMap((p) => p.results) ?? [];
  return { query, findings, total: query.data?.pages[0]?.totalCount };
}

/** How many findings each view has, without any filter. */
export function useViewCounts(): Record<string, number | undefined> {
  const names = Object.keys(states) as State[];
  const searches: [string, Search][] = [
    ...names.map((s): [string, Search] => [s, { status: s }]),
    ['today', { since: 'today' }],
    ['critical', { risk: '90' }],
  ];
  const answers = useQueries({
    queries: searches.map(([, search]) => findingsQuery({ filters: filtersOf(search), paginationInfo: { pageSize: 1 } })),
  });
  return Object.fromEntries(searches.map(([name], i) => [name, answers[i]?.data?.totalCount]));
}

const facetFields = ['level', 'cloudAccountId', 'service', 'region', 'tag.Environment'];

/** The number of findings of each value of each facet. A facet ignores its own filter. */
export const useFacets = (search: Search) =>
  useQuery(findingsQuery({ filters: filtersOf(search), facets: facetFields, paginationInfo: { pageSize: 1 } }));

/** The ids of all findings that match the filters of an address, at most ten thousand. */
export async function allIds(search: Search): Promise<string[]> {
  const ids: string[] = [];
  let token: string | null = null;
  do {
    const page: FindingPage = await posture.post('/v2/findings/query', {
      body: { filters: filtersOf(search), sorts: sortsOf(search), paginationInfo: { pageSize: 1000, continuationToken: token } },
    });
    ids.push(...page.results.map((f) => f.id));
    token = page.continuationToken ?? null;
  } while (token && ids.length < 10_000);
  return ids;
}
