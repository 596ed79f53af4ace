/** One member of a request that the server refused, or a place in a query text. */
export interface FieldError {
  path: string;
  message: string;
  line?: number;
  column?: number;
  endColumn?: number;
  hint?: string;
}

/** An answer that is not a success, from either server. Status 0 means the server was not reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly fields: FieldError[] = [],
    readonly requestId = '',
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  /** The message about one member of the request. */
  field(path: string): string | undefined {
    return this.fields.find((f) => f.path === path || f.path.endsWith('.' + path))?.message;
  }

  /** The message as a whole; undefined if one of these members has a message, which the form shows beside its field. */
  apartFrom(...paths: string[]): string | undefined {
    return paths.some((path) => this.field(path)) ? undefined : this.message;
  }
}

export const notReached = (error: unknown) => error instanceof ApiError && error.status === 0;

function retryAfter(answer: Response): number | undefined {
  const seconds = Number(answer.headers.get('Retry-After'));
  return seconds > 0 ? seconds : undefined;
}

interface Problem {
  message?: string;
  error_message?: string;
  errors?: (FieldError & { error_key?: string; error_message?: string })[];
}

/** Reads the error body of both servers: posture says message and path, desktop error_message and error_key. */
export async function readError(answer: Response): Promise<ApiError> {
  const problem = (await answer.json().catch(() => ({}))) as Problem;
  const fields = (problem.errors ?? []).map((e) => ({
    ...e,
    path: e.path ?? e.error_key ?? '',
    message: e.message ?? e.error_message ?? '',
  }));
  const message = problem.message ?? problem.error_message ?? `The server answered ${answer.status}.`;
  return new ApiError(answer.status, message, fields, answer.headers.get('X-Request-Id') ?? '', retryAfter(answer));
}
