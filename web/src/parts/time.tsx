import { useEffect, useState, useSyncExternalStore } from 'react';

// Times are shown in local time, or in UTC by a switch that is kept in the browser.
const stored = 'vigil.utc';
let utc = localStorage.getItem(stored) === 'yes';
const listeners = new Set<() => void>();

export function setUTC(on: boolean): void {
  utc = on;
  localStorage.setItem(stored, on ? 'yes' : 'no');
  listeners.forEach((listener) => listener());
}
export const useUTC = () =>
  useSyncExternalStore(
    (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    () => utc,
  );

type Instant = string | number | Date;
const zone = () => (utc ? { timeZone: 'UTC' } : {});
const format = (instant: Instant, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { ...options, ...zone() }).format(new Date(instant));

export const clockTime = (instant: Instant) => format(instant, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
export const day = (instant: Instant) => format(instant, { day: 'numeric', month: 'short' });
export const date = (instant: Instant) => format(instant, { day: 'numeric', month: 'short', year: 'numeric' });
export const dateTime = (instant: Instant) => `${day(instant)}, ${clockTime(instant)}`;
export const fullTime = (instant: Instant) =>
  `${format(instant, { day: 'numeric', month: 'short', year: 'numeric' })}, ${clockTime(instant)}${utc ? ' UTC' : ''}`;

const minute = 60_000;
const hour = 60 * minute;
const dayLong = 24 * hour;

/** A span of time in one unit: 4 s, 12 min, 3 h, 9 d. */
export function span(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < minute) return `${Math.floor(ms / 1000)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * dayLong) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / dayLong)} d`;
}

/** How long ago, up to seven days; the day after that. */
export function ago(instant: Instant, now = Date.now()): string {
  const passed = now - new Date(instant).getTime();
  if (passed < -minute) return `in ${span(-passed)}`;
  if (passed < minute) return 'now';
  return passed < 7 * dayLong ? `${span(passed)} ago` : day(instant);
}

/** The current time, renewed so that ages on the page stay true. */
export function useNow(every = 30_000): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** A time in words, with the full time on hover. */
export function Time({ at, as = 'ago' }: { at: Instant | undefined; as?: 'ago' | 'clock' | 'date' | 'age' }) {
  useUTC();
  const now = useNow();
  if (at === undefined || at === 0) return <span className="t3">never</span>;
  const text =
    as === 'clock' ? clockTime(at) : as === 'date' ? dateTime(at) : as === 'age' ? span(now - new Date(at).getTime()) : ago(at, now);
  return (
    <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
      {text}
    </time>
  );
}
