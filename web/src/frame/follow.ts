import { useEffect, useRef, useState } from 'react';
import { whenBack } from '../api/connection';

/** How long to wait before a stream is opened again: after its regular end, and after a failure. */
const afterEnd = 1000;
const afterFailure = 30_000;

/** Returns the data of the complete events in the text, and the incomplete rest. */
export function splitEvents(text: string): { events: string[]; rest: string } {
  const blocks = text.split('\n\n');
  const rest = blocks.pop() ?? '';
  const data = blocks.map((block) =>
    block
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => line.slice('data: '.length))
      .join('\n'),
  );
  return { events: data.filter((d) => d !== ''), rest };
}

/** Reads server-sent events until the stream ends. It fails if the answer is not an event stream. */
async function readEvents(address: string, signal: AbortSignal, onOpen: () => void, onEvent: (data: string) => void): Promise<void> {
  const answer = await fetch(address, { headers: { Accept: 'text/event-stream' }, signal, cache: 'no-store', credentials: 'same-origin' });
  if (!answer.ok || !answer.body || !answer.headers.get('Content-Type')?.startsWith('text/event-stream')) throw new Error('no stream');
  onOpen();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const { events, rest } = splitEvents(text + value);
    text = rest;
    events.forEach(onEvent);
  }
}

/** Resolves after a time, or when the signal aborts. */
export const sleep = (time: number, signal: AbortSignal) =>
  new Promise<void>((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end); // the signal outlives many sleeps
      done();
    };
    const timer = setTimeout(end, time);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });

/** Receives server-sent events while the page is visible. It returns whether the stream is open: while it is not, the caller must poll. */
export function useFollow<T>(address: string, onEvent: (event: T) => void): boolean {
  const [open, setOpen] = useState(false);
  const latest = useRef(onEvent);
  useEffect(() => {
    latest.current = onEvent;
  });
  useEffect(() => {
    let stop = new AbortController();
    const run = async (signal: AbortSignal) => {
      while (!signal.aborted) {
        let wait = afterEnd;
        try {
          await readEvents(
            address,
            signal,
            () => setOpen(true),
            (data) => latest.current(JSON.parse(data) as T),
          );
        } catch {
          wait = afterFailure;
          if (!signal.aborted) setOpen(false);
        }
        await sleep(wait, signal);
      }
    };
    const restart = () => {
      stop.abort();
      stop = new AbortController();
      setOpen(false);
      if (document.visibilityState === 'visible') void run(stop.signal);
    };
    restart();
    document.addEventListener('visibilitychange', restart);
    const stopListening = whenBack(restart);
    return () => {
      stop.abort();
      document.removeEventListener('visibilitychange', restart);
      stopListening();
    };
  }, [address]);
  return open;
}
