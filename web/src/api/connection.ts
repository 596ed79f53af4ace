import { useSyncExternalStore } from 'react';

/** lostSince is undefined while the server can be reached. While it cannot, one timer tries again, with exponential backoff. */
let lostSince: number | undefined;
let lastReached = Date.now();
let nextTry = 0;
const firstDelay = 1000;
let retryDelay = firstDelay;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();
const onBack = new Set<() => void>();

interface Connection {
  lostSince: number | undefined;
  lastReached: number;
  nextTry: number;
}
let snapshot: Connection = { lostSince, lastReached, nextTry };

function publish(): void {
  snapshot = { lostSince, lastReached, nextTry };
  listeners.forEach((listener) => listener());
}

export function reached(): void {
  lastReached = Date.now();
  if (lostSince === undefined) return;
  lostSince = undefined;
  retryDelay = firstDelay;
  clearTimeout(timer);
  publish();
  onBack.forEach((listener) => listener());
}

export function lost(): void {
  if (lostSince !== undefined) return;
  lostSince = lastReached;
  scheduleRetry();
}

function scheduleRetry(): void {
  clearTimeout(timer);
  nextTry = Date.now() + retryDelay;
  timer = setTimeout(() => void tryNow(), retryDelay);
  retryDelay = Math.min(retryDelay * 2, 30_000);
  publish();
}

/** Requests the cheapest answer of the server. If there is none, schedules the next attempt. */
export async function tryNow(): Promise<void> {
  try {
    await fetch('/console/config', { cache: 'no-store' });
    reached();
  } catch {
    scheduleRetry();
  }
}

/** Whether the server can be reached now. If it cannot, attempts to reach it begin. */
export async function canReach(): Promise<boolean> {
  try {
    await fetch('/console/config', { cache: 'no-store' });
    reached();
    return true;
  } catch {
    lost();
    return false;
  }
}

/** Resolves when a lost server answers again. */
export function reachedAgain(): Promise<void> {
  return new Promise((done) => {
    const stop = whenBack(() => {
      stop();
      done();
    });
  });
}

/** Calls back when a lost server answers again. */
export function whenBack(listener: () => void): () => void {
  onBack.add(listener);
  return () => onBack.delete(listener);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => snapshot);
