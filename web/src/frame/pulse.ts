import { useSyncExternalStore } from 'react';

/** When the data of the server last changed, and when it was last asked. */
interface Pulse {
  /** Unknown until the first change that was seen. */
  changedAt?: number;
  lookedAt: number;
  /** Seconds between requests; 0 while they are paused. */
  every: number;
}

let pulse: Pulse = { lookedAt: Date.now(), every: 15 };
const listeners = new Set<() => void>();

export function setPulse(patch: Partial<Pulse>): void {
  pulse = { ...pulse, ...patch };
  listeners.forEach((listener) => listener());
}

/** The second half of "Looked 4 s ago, every 15 s": the interval of the requests, or that they are paused. */
export const paceText = ({ every }: Pulse) => (every > 0 ? `, every ${every} s` : ', paused');

export const currentPulse = (): Pulse => pulse;

export const usePulse = (): Pulse =>
  useSyncExternalStore((listener) => (listeners.add(listener), () => listeners.delete(listener)), currentPulse);
