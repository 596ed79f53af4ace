import { useSyncExternalStore } from 'react';

/** Whether the server answers. One loop asks again while it does not. */
let lostSince: number | undefined;
let lastReached = Date.now();
let nextTry = 0;
let pause = 1000;
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
  pause = 1000;
  clearTimeout(timer);
  publish();
  onBack.forEach((listener) => listener());
}

export function lost(): void {
  if (lostSince !== undefined) return;
  lostSince = lastReached;
  plan();
}

function plan(): void {
  clearTimeout(timer);
  nextTry = Date.now() + pause;
  timer = setTimeout(() => void tryNow(), pause);
  pause = Math.min(pause * 2, 30_000);
  publish();
}

/** Asks the server for its cheapest answer; plans the next attempt when there is none. */
export async function tryNow(): Promise<void> {
  try {
    await fetch('/console/config', { cache: 'no-store' });
    reached();
  } catch {
    plan();
  }
}

/** Asks whether the server answers, and begins to look for it when it does not. */
export async function answers(): Promise<boolean> {
  try {
    await fetch('/console/config', { cache: 'no-store' });
    reached();
    return true;
  } catch {
    lost();
    return false;
  }
}

/** Ends when a lost server answers again. */
export function back(): Promise<void> {
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
