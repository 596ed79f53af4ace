import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { ApiError } from '../api/error';
import { posture, type Account, type CollectionQuery, type Entity, type FindingQuery, type Rule, type Run } from '../api/posture';
import { startsOf, unreadTypes, type UnreadType } from './unread';

/** Queries that several screens share, so that each is sent once. */

/** Reads all accounts, page by page. */
export async function readAccounts(): Promise<Account[]> {
  const accounts: Account[] = [];
  let token: string | undefined;
  do {
    const page = await posture.post('/v1/cloud-accounts/query', {
      body: { paginationInfo: { pageSize: 1000, continuationToken: token ?? null } },
    });
    accounts.push(...page.cloudAccounts);
    token = page.continuationToken;
  } while (token);
  return accounts;
}

export const accountsQuery = queryOptions({ queryKey: ['accounts'], queryFn: readAccounts });

export const rulesQuery = queryOptions({
  queryKey: ['rules'],
  queryFn: () => posture.get('/v1/rules'),
  staleTime: 60_000,
});

/** How many rules there are. Most screens do not need the whole list, which has 2 MB. */
export const ruleCountQuery = queryOptions({
  queryKey: ['rules', 'count'],
  queryFn: async () => (await posture.post('/v1/rules/query', { body: { paginationInfo: { pageSize: 1 } } })).totalCount,
  staleTime: 60_000,
});

export const frameworksQuery = queryOptions({
  queryKey: ['frameworks'],
  queryFn: async () => (await posture.get('/v1/compliance-frameworks')).results,
  staleTime: 60_000,
});

/** The types with their properties. Their descriptions are Markdown, of which only backticks occur; they are shown as plain text. */
export const schemaQuery = queryOptions({
  queryKey: ['schema'],
  queryFn: async () => {
    const { types, ...rest } = await posture.get('/v1/entities/schema');
    const plain = <T extends { description: string }>(of: T): T => ({ ...of, description: of.description.replaceAll('`', '') });
    return { ...rest, types: types.map((t) => ({ ...plain(t), properties: t.properties.map(plain), edges: t.edges.map(plain) })) };
  },
  staleTime: Infinity,
});

/** The newest runs, of one account or of all. */
export const runsQuery = (cloudAccountId?: string, pageSize = 100) =>
  queryOptions({
    queryKey: ['runs', cloudAccountId ?? '', pageSize],
    queryFn: async (): Promise<Run[]> =>
      (
        await posture.post('/v1/cloud-accounts/collection-status/query', {
          body: { ...(cloudAccountId ? { filters: { cloudAccountId } } : {}), paginationInfo: { pageSize } },
        })
      ).results,
  });

const incompleteStatuses: Run['status'][] = ['CompletedWithErrors', 'Failed', 'Timeout'];

type RunFilters = NonNullable<CollectionQuery['filters']>;

/** Reads all runs that match, newest first, page by page. */
async function readRuns(filters: RunFilters): Promise<Run[]> {
  const runs: Run[] = [];
  let token: string | undefined;
  do {
    const page = await posture.post('/v1/cloud-accounts/collection-status/query', {
      body: { filters, paginationInfo: { pageSize: 1000, continuationToken: token ?? null } },
    });
    runs.push(...page.results);
    token = page.paginationInfo.continuationToken;
  } while (token);
  return runs;
}

/** For more accounts than this, one request for the complete runs of all accounts is quicker than one for each. */
const mostSeparateRequests = 4;

/**
 * The types that could not be read in full, of one account or of all. Complete runs are large and have no unread types. They are
 * requested only for accounts in which an incomplete run left types unread, and only those that started since: they may have read them.
 */
export const unreadQuery = (account?: string) =>
  queryOptions({
    queryKey: ['runs', 'unread', account ?? ''],
    queryFn: async (): Promise<UnreadType[]> => {
      const incomplete = await readRuns({ statuses: incompleteStatuses, ...(account ? { cloudAccountId: account } : {}) });
      const starts = startsOf(unreadTypes(incomplete));
      const statuses: Run['status'][] = ['Completed'];
      const filters: RunFilters[] = [...starts].map(([cloudAccountId, startedFrom]) => ({ statuses, cloudAccountId, startedFrom }));
      const oldest = [...starts.values()].sort()[0];
      const complete = await Promise.all(
        (filters.length > mostSeparateRequests && oldest ? [{ statuses, startedFrom: oldest }] : filters).map(readRuns),
      );
      return unreadTypes([...incomplete, ...complete.flat()]);
    },
  });

/** A resource, or null if it was deleted. Null is data and not an error, so that what is left of the resource stays shown while it is read again. */
export const entityQuery = (id: string) =>
  queryOptions({
    queryKey: ['entity', id],
    queryFn: async (): Promise<Entity | null> => {
      try {
        return await posture.get('/v1/entities/{resource_id}', { path: { resource_id: id } });
      } catch (cause) {
        if (cause instanceof ApiError && cause.status === 404) return null;
        throw cause;
      }
    },
  });

export const findingsQuery = (body: FindingQuery) =>
  queryOptions({
    queryKey: ['findings', 'query', body],
    queryFn: ({ signal }) => posture.post('/v2/findings/query', { body, signal }),
    placeholderData: keepPreviousData,
  });

export const open = { status: 'Open', isSuppressed: false } as const;

/** Memoizes a function of an object, such as an index of a response that every row of a list uses. */
function memoize<T extends object, U>(compute: (of: T) => U): (of: T) => U {
  const known = new WeakMap<T, U>();
  return (of) => {
    const value = known.get(of) ?? compute(of);
    known.set(of, value);
    return value;
  };
}
const none: never[] = [];
const accountNames = memoize((accounts: Account[]) => new Map(accounts.map((a) => [a.cloudAccountId, a.cloudAccountName])));
const rulesById = memoize((rules: Rule[]) => new Map(rules.map((r) => [r.id, r])));

/** Returns a function that names an account; the id while the accounts are not read. */
export function useAccountNames(): (id: string) => string {
  const names = accountNames(useQuery(accountsQuery).data ?? none);
  return (id) => names.get(id) ?? id;
}

export function useRules(): Map<string, Rule> {
  return rulesById(useQuery(rulesQuery).data ?? none);
}

/** Whether the rules are being read for the first time. Later, a missing rule means that it was deleted or that the rules cannot be read. */
export const useRulesPending = () => useQuery(rulesQuery).isPending;

/** A few rules by id, for screens that name no others. */
export function useSomeRules(ids: string[]): Map<string, Rule> {
  const wanted = [...new Set(ids)].sort();
  const query = useQuery({
    queryKey: ['rules', 'some', wanted],
    queryFn: async () =>
      (await posture.post('/v1/rules/query', { body: { filters: { ids: wanted }, paginationInfo: { pageSize: wanted.length } } })).results,
    staleTime: 60_000,
    enabled: wanted.length > 0,
    placeholderData: keepPreviousData, // so that names do not turn into ids while other rules are requested
  });
  return rulesById(query.data ?? none);
}

/** The buckets of an aggregation, largest first. */
export const buckets = (of: { buckets: Record<string, { count: number }> } | undefined) =>
  Object.entries(of?.buckets ?? {})
    .map(([value, b]) => ({ value, ...b }))
    .sort((a, b) => b.count - a.count || a.value.localeCompare(b.value));
