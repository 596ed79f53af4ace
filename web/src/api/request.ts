import { ApiError, readError } from './error';
import { reached, lost } from './connection';
import { Slots } from './slots';

/** At most four calls of this page run at a time: browsers limit connections, and the server limits requests. */
const slots = new Slots(4);

export interface Answer<T> {
  data: T;
  headers: Headers;
}

export interface RequestOptions {
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

function address(path: string, query: RequestOptions['query']): string {
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
    throw new ApiError(0, 'The server cannot be reached.');
  }
}

function requestInit(method: string, request: RequestOptions, etag?: string): RequestInit {
  const headers: Record<string, string> = { Accept: 'application/json', ...request.headers };
  if (request.body !== undefined) headers['Content-Type'] = 'application/json';
  if (csrfToken) headers['X-CSRF-Token'] = csrfToken;
  if (etag) headers['If-None-Match'] = etag;
  const body = request.body === undefined ? null : JSON.stringify(request.body);
  return { method, headers, body, signal: request.signal ?? null, credentials: 'same-origin', cache: 'no-store' };
}

const invalidAnswer = (why: string, answer: Response) =>
  new ApiError(502, `The answer of the server is not valid: ${why}.`, [], answer.headers.get('X-Request-Id') ?? '');

/** Reads the body of a success. The answer to a change may be empty; the answer to a read may be empty only with status 204. */
async function readBody<T>(answer: Response, mustHaveBody: boolean): Promise<T> {
  if (answer.status === 204) return undefined as T;
  const text = await answer.text();
  if (text === '') {
    if (mustHaveBody) throw invalidAnswer('it is empty', answer);
    return undefined as T;
  }
  if (!(answer.headers.get('Content-Type') ?? '').includes('json')) return text as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw invalidAnswer('it is not JSON', answer);
  }
}

/** Functions that resume the reads whose session has ended. Changes are not resumed, because somebody else may log in. */
const waitingForLogin: (() => void)[] = [];
/** Addresses at which POST only reads. */
const readPaths = /(query|\/preview|\/posture|\/trend|\/rules\/check|\/rules\/test)$/;
const isRead = (method: string, path: string) => method === 'GET' || (method === 'POST' && readPaths.test(path));

/** Sends the reads again that were refused because the session had ended. */
export const loggedInAgain = () => waitingForLogin.splice(0).forEach((go) => go());

/** Sends one request and reads its answer. All calls of the API go through here, except downloads and event streams. */
export async function send<T>(method: string, path: string, request: RequestOptions = {}): Promise<Answer<T>> {
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

async function sendOnce<T>(method: string, path: string, request: RequestOptions): Promise<Answer<T>> {
  const url = address(path, request.query);
  const before = request.conditional ? known.get(url) : undefined;
  const read = isRead(method, path);
  const call = async () => {
    const answer = await reach(url, requestInit(method, request, before?.etag));
    if (answer.status === 304 && before) return before.answer as Answer<T>;
    if (!answer.ok) throw await readError(answer);
    const result = { data: await readBody<T>(answer, read), headers: answer.headers };
    const etag = answer.headers.get('ETag');
    if (request.conditional && etag) known.set(url, { etag, answer: result });
    return result;
  };
  // A user waits for a change, so changes overtake the reads of the page.
  const urgent = !read;
  return slots.run(call, urgent);
}
