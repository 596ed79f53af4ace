import { ApiError, readError } from './error';
import { reached, lost } from './connection';
import { Slots } from './slots';

/** Calls of this page that run at a time. Browsers and the server's limits both suffer from more. */
const slots = new Slots(4);

export interface Answer<T> {
  data: T;
  headers: Headers;
}

export interface Request {
  body?: unknown;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Sends the ETag of the last answer, and takes that answer again when the server says 304. */
  conditional?: boolean;
}

/** The last answer of each conditional request, by address. */
const known = new Map<string, { etag: string; answer: Answer<unknown> }>();

/** Discards all cached responses, because they belong to the user who was logged in. */
export const forgetAnswers = () => known.clear();

let csrfToken = '';
const onLoggedOut = new Set<() => void>();

/** Sets the token that changing calls carry. It comes with the session. */
export function setCsrfToken(token: string): void {
  csrfToken = token;
}

export const csrf = () => csrfToken;

/** Calls back when an answer says that the session is over. */
export function whenLoggedOut(listener: () => void): () => void {
  onLoggedOut.add(listener);
  return () => onLoggedOut.delete(listener);
}

function address(path: string, query: Request['query']): string {
  const given = Object.entries(query ?? {}).filter(([, v]) => v !== undefined && v !== '');
  const text = new URLSearchParams(given.map(([k, v]) => [k, String(v)])).toString();
  return text ? `${path}?${text}` : path;
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    const answer = await fetch(path, init);
    reached();
    return answer;
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    lost();
    throw new ApiError(0, 'The server is not reached.');
  }
}

function init(method: string, request: Request, etag?: string): RequestInit {
  const headers: Record<string, string> = { Accept: 'application/json', ...request.headers };
  if (request.body !== undefined) headers['Content-Type'] = 'application/json';
  if (csrfToken) headers['X-CSRF-Token'] = csrfToken;
  if (etag) headers['If-None-Match'] = etag;
  const body = request.body === undefined ? null : JSON.stringify(request.body);
  return { method, headers, body, signal: request.signal ?? null, credentials: 'same-origin', cache: 'no-store' };
}

const senseless = (why: string, answer: Response) =>
  new ApiError(502, `The answer makes no sense: ${why}.`, [], answer.headers.get('X-Request-Id') ?? '');

/** Reads the body of a success. The answer to a change may be empty; that to a read only with status 204. */
async function readBody<T>(answer: Response, asked: boolean): Promise<T> {
  if (answer.status === 204) return undefined as T;
  const text = await answer.text();
  if (text === '') {
    if (asked) throw senseless('it is empty', answer);
    return undefined as T;
  }
  if (!(answer.headers.get('Content-Type') ?? '').includes('json')) return text as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw senseless('it is not JSON', answer);
  }
}

/** Reads whose session has ended: they wait for the next login. Changes do not, because somebody else may log in. */
const waitingForLogin: (() => void)[] = [];
const reading = /(query|\/preview|\/posture|\/trend|\/rules\/check|\/rules\/test)$/;
const isRead = (method: string, path: string) => method === 'GET' || (method === 'POST' && reading.test(path));

/** Asks again what was refused because the session had ended. */
export const loggedInAgain = () => waitingForLogin.splice(0).forEach((go) => go());

/** Sends one request and reads its answer. Everything the console asks goes through here. */
export async function send<T>(method: string, path: string, request: Request = {}): Promise<Answer<T>> {
  for (;;) {
    try {
      return await sendOnce(method, path, request);
    } catch (cause) {
      const ended = cause instanceof ApiError && cause.status === 401 && path !== '/console/session';
      if (!ended) throw cause;
      onLoggedOut.forEach((listener) => listener());
      if (!isRead(method, path)) throw cause;
      await new Promise<void>((go) => waitingForLogin.push(go));
      request.signal?.throwIfAborted();
    }
  }
}

async function sendOnce<T>(method: string, path: string, request: Request): Promise<Answer<T>> {
  const url = address(path, request.query);
  const before = request.conditional ? known.get(url) : undefined;
  const read = isRead(method, path);
  const call = async () => {
    const answer = await reach(url, init(method, request, before?.etag));
    if (answer.status === 304 && before) return before.answer as Answer<T>;
    if (!answer.ok) throw await readError(answer);
    const result = { data: await readBody<T>(answer, read), headers: answer.headers };
    const etag = answer.headers.get('ETag');
    if (request.conditional && etag) known.set(url, { etag, answer: result });
    return result;
  };
  // A user waits for a change, so it overtakes the reads of the page.
  return slots.run(call, !read);
}
