import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { posture } from '../api/posture';
import { setPulse } from '../frame/pulse';

/** Asks every five seconds whether anything has changed, and has the screens ask again when it has. */
export function useServerPulse(): void {
  const client = useQueryClient();
  const marks = useQuery({
    queryKey: ['pulse'],
    queryFn: () => posture.get('/console/pulse', { conditional: true }),
    refetchInterval: 5000,
    retry: false,
  }).data;
  const text = marks && JSON.stringify(marks);
  const known = useRef<string>(undefined);
  const changed = marks?.lastChangeTime;
  useEffect(() => {
    if (changed) setPulse({ changedAt: new Date(changed).getTime() });
  }, [changed]);
  useEffect(() => {
    if (text === undefined || text === known.current) return;
    const first = known.current === undefined;
    known.current = text;
    if (first) return;
    void client.invalidateQueries({
      predicate: (q) => !['pulse', 'session', 'config', 'schema', 'script'].includes(String(q.queryKey[0])),
    });
  }, [text, client]);
}
