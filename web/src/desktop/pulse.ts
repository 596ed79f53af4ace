import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Pulse } from '../api/desktop';
import { useFollow } from '../frame/follow';
import { usePaused } from './data';

/** The changes that screens show at once. Those of records are too frequent: each report of a machine makes one. */
const told = ({ statuses, inventory, alerts, configuration }: Pulse) => [statuses, inventory, alerts, configuration].join();

/** Has the screens ask again as soon as the server reports a change of a status, an alert or a setting. */
export function useServerPulse(): void {
  const client = useQueryClient();
  const paused = usePaused();
  const known = useRef<string>(undefined);
  useFollow<Pulse>('/rest/monitor/pulse/stream', (pulse) => {
    const before = known.current;
    known.current = told(pulse);
    if (before !== undefined && before !== known.current && !paused) void client.invalidateQueries({ queryKey: ['desktop'] });
  });
}
