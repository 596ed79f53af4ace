import { useQuery, useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { posture, type Pulse } from '../api/posture';
import { useFollow } from '../frame/follow';
import { setPulse } from '../frame/pulse';
import { Throttle } from '../frame/throttle';

/** A kind of data whose version the pulse has. */
type Mark = Exclude<keyof Pulse, 'lastChangeTime'>;

/** Which changes make a cached answer stale, by the first part of its query key. Every change does for keys that are not listed. */
const olderBy: Record<string, Mark[]> = {
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
export const changedMarks = (before: Pulse, now: Pulse): Mark[] =>
  (['findings', 'entities', 'rules', 'accounts', 'collections'] as const).filter((mark) => before[mark] !== now[mark]);

/** Whether these changes can make a cached answer stale. */
export const isOlder = (queryKey: readonly unknown[], changed: Mark[]): boolean => {
  const by = olderBy[String(queryKey[0])];
  return changed.length > 0 && (!by || by.some((mark) => changed.includes(mark)));
};

/** A list with more pages is not refetched after a change, because its pages would be requested one after the other. */
const mostPages = 5;

/** Whether an answer is a list with too many pages to be refetched after a change. */
export const isDeep = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages) && data.pages.length > mostPages;

const loadsFurtherPage = (q: Query) => q.state.fetchStatus === 'fetching' && q.state.fetchMeta?.fetchMore !== undefined;

/** Refetches the queries whose answers the changes make stale, and waits for the new answers. */
export async function askAgain(client: QueryClient, changed: Mark[]): Promise<void> {
  const older = (q: Query) => isOlder(q.queryKey, changed);
  // A user waits for a further page. Asking again for the list would cancel it.
  const loading = client.getQueryCache().findAll({ predicate: (q) => older(q) && loadsFurtherPage(q) });
  await Promise.allSettled(loading.map((q) => q.promise));
  void client.invalidateQueries({ predicate: (q) => older(q) && isDeep(q.state.data), refetchType: 'none' });
  await client.invalidateQueries({ predicate: (q) => older(q) && !isDeep(q.state.data) });
}

/**
 * During a collection something changes every second: the screens ask again at most this often, and not before they have
 * the answers of the last time. Otherwise requests to a slow server would queue up, and a new screen would wait behind them.
 */
const atMostEvery = 3000;

/** Follows the changes that the server reports, and has the screens ask again. Without a stream it asks every five seconds. */
export function useServerPulse(): void {
  const client = useQueryClient();
  const live = useFollow<Pulse>('/console/pulse/stream', (marks) => client.setQueryData(['pulse'], marks));
  const marks = useQuery({
    queryKey: ['pulse'],
    queryFn: () => posture.get('/console/pulse', { conditional: true }),
    refetchInterval: live ? false : 5000,
    staleTime: live ? Infinity : 0,
    retry: false,
  }).data;
  const known = useRef<Pulse>(undefined);
  const throttle = useRef(new Throttle(atMostEvery));
  const lastChange = marks?.lastChangeTime;
  useEffect(() => {
    if (lastChange) setPulse({ changedAt: new Date(lastChange).getTime() });
  }, [lastChange]);
  useEffect(() => {
    if (!marks) return;
    if (changedMarks((known.current ??= marks), marks).length === 0) return;
    throttle.current.run(() => {
      const changed = changedMarks(known.current ?? marks, marks);
      known.current = marks;
      return askAgain(client, changed);
    });
  }, [marks, client]);
}
