import { useQuery, useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { posture, type Pulse } from '../api/posture';
import { useFollow } from '../frame/follow';
import { setPulse } from '../frame/pulse';
import { Throttle } from '../frame/throttle';

/** A kind of data whose version the pulse has. */
type Kind = Exclude<keyof Pulse, 'lastChangeTime'>;

/** Which changes make a cached answer stale, by the first part of its query key. An answer whose key is not listed becomes stale by any change. */
const staleAfter: Record<string, Kind[]> = {
  pulse: [],
  session: [],
  config: [],
  schema: [],
  script: [],
  rules: ['rules'],
  frameworks: ['rules'],
  accounts: ['accounts', 'collections'],
  runs: ['collections'],
};

/** The kinds of data whose versions differ between two pulses. */
export const changedKinds = (before: Pulse, now: Pulse): Kind[] =>
  (['findings', 'entities', 'rules', 'accounts', 'collections'] as const).filter((kind) => before[kind] !== now[kind]);

/** Whether these changes can make a cached answer stale. */
export const becomesStale = (queryKey: readonly unknown[], changed: Kind[]): boolean => {
  const kinds = staleAfter[String(queryKey[0])];
  return changed.length > 0 && (!kinds || kinds.some((kind) => changed.includes(kind)));
};

/** A list with more pages is not refetched after a change, because its pages would be requested one after the other. */
const mostPages = 5;

/** Whether an answer is a list with too many pages to be refetched after a change. */
export const isDeep = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages) && data.pages.length > mostPages;

const loadsFurtherPage = (q: Query) => q.state.fetchStatus === 'fetching' && q.state.fetchMeta?.fetchMore !== undefined;

/** Refetches the queries whose answers the changes make stale, and waits for the new answers. */
export async function refetchStale(client: QueryClient, changed: Kind[]): Promise<void> {
  const isStale = (q: Query) => becomesStale(q.queryKey, changed);
  // A user waits for a further page. Refetching the list would cancel its request.
  const loading = client.getQueryCache().findAll({ predicate: (q) => isStale(q) && loadsFurtherPage(q) });
  await Promise.allSettled(loading.map((q) => q.promise));
  void client.invalidateQueries({ predicate: (q) => isStale(q) && isDeep(q.state.data), refetchType: 'none' });
  await client.invalidateQueries({ predicate: (q) => isStale(q) && !isDeep(q.state.data) });
}

/**
 * During a collection something changes every second. The screens refetch at most this often, and not before the answers of the last
 * time have arrived: otherwise requests to a slow server would queue up, and those of a new screen would wait behind them.
 */
const atMostEvery = 3000;

/** Refetches what the screens show when the server reports a change. Without an event stream it polls the pulse every five seconds. */
export function useServerPulse(): void {
  const client = useQueryClient();
  const live = useFollow<Pulse>('/console/pulse/stream', (pulse) => client.setQueryData(['pulse'], pulse));
  const pulse = useQuery({
    queryKey: ['pulse'],
    queryFn: () => posture.get('/console/pulse', { conditional: true }),
    refetchInterval: live ? false : 5000,
    staleTime: live ? Infinity : 0,
    retry: false,
  }).data;
  const known = useRef<Pulse>(undefined);
  const throttle = useRef(new Throttle(atMostEvery));
  const lastChange = pulse?.lastChangeTime;
  useEffect(() => {
    if (lastChange) setPulse({ changedAt: new Date(lastChange).getTime() });
  }, [lastChange]);
  useEffect(() => {
    if (!pulse) return;
    known.current ??= pulse;
    if (changedKinds(known.current, pulse).length === 0) return;
    throttle.current.run(() => {
      // This may run later, after another run has updated known.current: compare again.
      const changed = changedKinds(known.current ?? pulse, pulse);
      known.current = pulse;
      return refetchStale(client, changed);
    });
  }, [pulse, client]);
}
