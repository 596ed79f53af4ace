import { keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { posture, type Finding, type FindingPage } from '../../api/posture';
import type { Search } from '../../frame/address';
import { findingsQuery } from '../data';
import { activeNames, filtersOf, kinds, sortsOf, states, type State } from './filters';

const pageSize = 200;

/** The findings of an address, in pages that are asked for as one scrolls. */
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
  });
  const findings: Finding[] = query.data?.pages.flatMap((p) => p.results) ?? [];
  return { query, findings, total: query.data?.pages[0]?.totalCount };
}

/** How many findings each state has, without any filter. */
export function useStateCounts(): Record<State, number | undefined> {
  const names = Object.keys(states) as State[];
  const answers = useQueries({ queries: names.map((s) => findingsQuery({ filters: states[s].filters, paginationInfo: { pageSize: 1 } })) });
  return Object.fromEntries(names.map((s, i) => [s, answers[i]?.data?.totalCount])) as Record<State, number | undefined>;
}

const counted = ['level', 'cloudAccountId', 'service', 'region', 'cloudProvider', 'cloudTags.Environment'];
const aggregations = (fields: string[]) => Object.fromEntries(fields.map((f) => [f, { fieldName: f, termsCount: 40 }]));

/** Counts of each facet's values. A filter does not narrow its own facet, so each active one is counted apart. */
export function useFacets(search: Search) {
  const all = useQuery(findingsQuery({ filters: filtersOf(search), aggregations: aggregations(counted), paginationInfo: { pageSize: 1 } }));
  const active = activeNames(search).filter((n) => n !== 'q' && n !== 'rule' && n !== 'framework');
  const fieldOf = (name: string) => (name.startsWith('tag.') ? `cloudTags.${name.slice(4)}` : (kinds.find((k) => k.name === name)?.field ?? name));
  const apart = useQueries({
    queries: active.map((name) => findingsQuery({ filters: filtersOf(search, name), aggregations: aggregations([fieldOf(name)]), paginationInfo: { pageSize: 1 } })),
  });
  const found = { ...all.data?.aggregations };
  active.forEach((name, i) => {
    const field = fieldOf(name);
    const own = apart[i]?.data?.aggregations?.[field];
    if (own) found[field] = own;
  });
  return found;
}
