import { ApiError, readError } from './error';
import { reached, lost } from './connection';

/** Calls of this page that run at a time. Browsers and the server's limits both suffer from more. */
const limit = 4;
let running = 0;
const waiting: (() => void)[] = [];

async function turn(): Promise<void> {
  if (running < limit) {
    running++;
    return;
  }
  await new Promise<void>((go) => waiting.push(go));
}

function done(): void {
  const next = waiting.shift();
  if (next) next();
  else running--;
}

export interface Answer<T> {
  data: T;
  headers: Headers;
}

export interface Request {
  body?: unknown;
  query?: Record<string, string | number | boolean | undefined>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

let csrfToken = '';
const onLoggedOut = new Set<() => void>();

/** Sets the token that changing calls carry. It comes with the session. */
export function setCsrfToken(token: string): void {
  csrfToken = token;
}

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

function init(method: string, request: Request): RequestInit {
  const headers: Record<string, string> = { Accept: 'application/json', ...request.headers };
  if (request.body !== undefined) headers['Content-Type'] = 'application/json';
  if (csrfToken) headers['X-CSRF-Token'] = csrfToken;
  const body = request.body === undefined ? null : JSON.stringify(request.body);
  return { method, headers, body, signal: request.signal ?? null, credentials: 'same-origin', cache: 'no-store' };
}

async function readBody<T>(answer: Response): Promise<T> {
  if (answer.status === 204) return undefined as T;
  const text = await answer.text();
  if (text === '') return undefined as T;
  if (!(answer.headers.get('Content-Type') ?? '').includes('json')) return text as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(502, 'The answer makes no sense: it is not JSON.', [], answer.headers.get('X-Request-Id') ?? '');
  }
}

/** Sends one request and reads its answer. Everything the console asks goes through here. */
export async function send<T>(method: string, path: string, request: Request = {}): Promise<Answer<T>> {
  await turn();
  try {
    const answer = await reach(address(path, request.query), init(method, request));
    if (!answer.ok) {
      const error = await readError(answer);
      if (answer.status === 401 && path !== '/console/session') onLoggedOut.forEach((listener) => listener());
      throw error;
    }
    return { data: await readBody<T>(answer), headers: answer.headers };
  } finally {
    done();
  }
}
