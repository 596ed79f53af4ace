import { send, type Answer } from './request';

// The types of a call follow from its path in the OpenAPI document.
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** The paths that have the method. */
type With<Paths, M extends Method> = { [P in keyof Paths]: Paths[P] extends { [K in M]: object } ? P : never }[keyof Paths] & string;
type Operation<Paths, P extends keyof Paths, M extends Method> = M extends keyof Paths[P] ? NonNullable<Paths[P][M]> : never;
/** The type of the body of a response, in JSON or in another format. */
type Content<R> = R extends { content: { 'application/json': infer T } }
  ? T
  : R extends { content: Record<string, infer T> }
    ? T
    : undefined;
type Success<O> = O extends { responses: infer R } ? Content<R[keyof R & (200 | 201 | 202 | 204)]> : never;
type Body<O> = O extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never;
type PathOf<O> = O extends { parameters: { path: infer T } } ? T : never;
type QueryOf<O> = O extends { parameters: { query?: infer T } } ? T : never;

export interface Input<O> {
  path?: PathOf<O>;
  query?: QueryOf<O>;
  body?: Body<O>;
  etag?: string | undefined;
  signal?: AbortSignal;
  /** See RequestOptions.conditional. */
  conditional?: boolean;
}

const fill = (path: string, values: Record<string, string | number>) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name] ?? '')));

/** A client for the paths of one OpenAPI document. */
export function client<Paths>() {
  function call<M extends Method>(method: M) {
    return async <P extends With<Paths, M>>(path: P, input: Input<Operation<Paths, P, M>> = {}): Promise<Success<Operation<Paths, P, M>>> =>
      (await answer(method, path, input)).data;
  }
  async function answer<M extends Method, P extends With<Paths, M>>(
    method: M,
    path: P,
    input: Input<Operation<Paths, P, M>> = {},
  ): Promise<Answer<Success<Operation<Paths, P, M>>>> {
    return send(method.toUpperCase(), fill(path, (input.path ?? {}) as Record<string, string>), {
      body: input.body,
      query: input.query as Record<string, string> | undefined,
      ...(input.etag ? { headers: { 'If-Match': input.etag } } : {}),
      ...(input.signal ? { signal: input.signal } : {}),
      ...(input.conditional ? { conditional: true } : {}),
    });
  }
  return { get: call('get'), post: call('post'), put: call('put'), patch: call('patch'), delete: call('delete'), answer };
}
