import { useSyncExternalStore } from 'react';

// Times are shown in local time, or in UTC by a switch that is kept in the browser.
const stored = 'vigil.utc';
let utc = localStorage.getItem(stored) === 'yes';
const listeners = new Set<() => void>();

export function setUTC(on: boolean): void {
  utc = on;
  localStorage.setItem(stored, on ? 'yes' : 'no');
  listeners.forEach((listener) => listener());
}
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
export const useUTC = () => useSyncExternalStore(subscribe, () => utc);

type Instant = string | number | Date;

/** Writes times in the zone that is chosen. It makes a formatter once for each zone: making one takes much longer than using it. */
function formatter(options: Intl.DateTimeFormatOptions): (instant: Instant) => string {
  const made: Partial<Record<'local' | 'utc', Intl.DateTimeFormat>> = {};
  return (instant) =>
    (made[utc ? 'utc' : 'local'] ??= new Intl.DateTimeFormat('en-GB', { ...options, ...(utc ? { timeZone: 'UTC' } : {}) })).format(
      new Date(instant),
    );
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
export const clockTime = formatter(clock);
const clockTimeWithZone = formatter({ ...clock, timeZoneName: 'short' });
export const day = formatter({ day: 'numeric', month: 'short' });
export const date = formatter({ day: 'numeric', month: 'short', year: 'numeric' });
export const dateTime = (instant: Instant) => `${day(instant)}, ${clockTime(instant)}`;
export const fullTime = (instant: Instant) => `${date(instant)}, ${clockTimeWithZone(instant)}`;

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

/** A span of time with its unit written out: 4 seconds, 1 hour, 9 days. */
export function spanInWords(milliseconds: number): string {
  const [n = '0', unit = 's'] = span(milliseconds).split(' ');
  const word = { s: 'second', min: 'minute', h: 'hour', d: 'day' }[unit] ?? unit;
  return `${n} ${word}${n === '1' ? '' : 's'}`;
}

/** How long ago, up to seven days; the day after that. */
export function ago(instant: Instant, now = Date.now()): string {
  const passed = now - new Date(instant).getTime();
  if (passed < -minute) return `in ${span(-passed)}`;
  if (passed < minute) return 'now';
  return passed < 7 * dayLong ? `${span(passed)} ago` : day(instant);
}

/** Whether a time is less than 22 hours ago. Then the time of day is enough to tell which day is meant. */
export const isWithinDay = (at: number) => Date.now() - at < 22 * hour;

/** The end of an axis of time: now, if it lies within the last minute. */
export const axisEnd = (to: number, label: (time: number) => string) => (Date.now() - to < minute ? 'now' : label(to));

/** The current time. It updates at the interval, so that ages on the page stay right. */
export function useNow(every = 30_000): number {
  const clock = clockOf(every);
  return useSyncExternalStore(clock.subscribe, clock.now);
}

/** A clock that ticks while it has subscribers. Components with the same interval share one: a list has a time in every row. */
function makeClock(every: number) {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let now = Date.now();
  const tick = () => {
    now = Date.now();
    listeners.forEach((listener) => listener());
  };
  return {
    now: () => now,
    subscribe: (listener: () => void) => {
      if (listeners.size === 0) {
        now = Date.now();
        timer = setInterval(tick, every);
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) clearInterval(timer);
      };
    },
  };
}
const clocks = new Map<number, ReturnType<typeof makeClock>>();
function clockOf(every: number) {
  const clock = clocks.get(every) ?? makeClock(every);
  clocks.set(every, clock);
  return clock;
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
