import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { posture, type Pulse } from '../api/posture';
import { useFollow } from '../frame/follow';
import { setPulse } from '../frame/pulse';

/** Answers that no change of data makes older. */
const constant = ['pulse', 'session', 'config', 'schema', 'script'];

/** During a collection something changes every second: the screens ask again at most this often. */
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
  const text = marks && JSON.stringify(marks);
  const known = useRef<string>(undefined);
  const askedAt = useRef(0);
  const changed = marks?.lastChangeTime;
  useEffect(() => {
    if (changed) setPulse({ changedAt: new Date(changed).getTime() });
  }, [changed]);
  useEffect(() => {
    if (text === undefined || text === known.current) return;
    const first = known.current === undefined;
    known.current = text;
    if (first) return;
    const ask = () => {
      askedAt.current = Date.now();
      void client.invalidateQueries({ predicate: (q) => !constant.includes(String(q.queryKey[0])) });
    };
    const wait = askedAt.current + atMostEvery - Date.now();
    if (wait <= 0) return ask();
    const timer = setTimeout(ask, wait);
    return () => clearTimeout(timer);
  }, [text, client]);
}
