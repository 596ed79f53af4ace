import { useSyncExternalStore } from 'react';

/** When the data of the server last changed, and when the screen last got an answer. */
interface Pulse {
  /** Undefined until the server has reported a change. */
  changedAt?: number;
  updatedAt: number;
  /** Seconds between requests; 0 while they are paused. */
  every: number;
}

let pulse: Pulse = { updatedAt: Date.now(), every: 15 };
const listeners = new Set<() => void>();

export function setPulse(patch: Partial<Pulse>): void {
  pulse = { ...pulse, ...patch };
  listeners.forEach((listener) => listener());
}

/** The second half of "Updated 4 s ago, every 15 s": the interval of the requests, or that they are paused. */
export const paceText = ({ every }: Pulse) => (every > 0 ? `, every ${every} s` : ', paused');

export const currentPulse = (): Pulse => pulse;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
export const usePulse = (): Pulse => useSyncExternalStore(subscribe, currentPulse);
