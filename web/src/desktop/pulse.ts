import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Pulse } from '../api/desktop';
import { useFollow } from '../frame/follow';
import { usePaused } from './data';

/** The times of the changes that screens show at once. The time `records` is left out: every report of a machine changes it. */
const versionOf = ({ statuses, inventory, alerts, configuration }: Pulse) => [statuses, inventory, alerts, configuration].join();

/** Reloads the data of the screens as soon as the server reports a change of a status, the inventory, an alert or a setting. */
export function useServerPulse(): void {
  const client = useQueryClient();
  const paused = usePaused();
  const version = useRef<string>(undefined);
  useFollow<Pulse>('/rest/monitor/pulse/stream', (pulse) => {
    const before = version.current;
    version.current = versionOf(pulse);
    if (before !== undefined && before !== version.current && !paused) void client.invalidateQueries({ queryKey: ['desktop'] });
  });
}
