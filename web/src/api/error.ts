/** An error about one member of a refused request, or about a place in the text of a query. */
export interface FieldError {
  path: string;
  message: string;
  line?: number;
  column?: number;
  endColumn?: number;
  hint?: string;
}

const isAbout = (error: FieldError, path: string) => error.path === path || error.path.endsWith('.' + path);

/** An answer of either server that is not a success. Status 0: the server could not be reached. */
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
    return this.fields.find((f) => isAbout(f, path))?.message;
  }

  /** The whole message; undefined if every error is about one of these members, because the form shows those beside their fields. */
  apartFrom(...paths: string[]): string | undefined {
    const shown = this.fields.length > 0 && this.fields.every((f) => paths.some((path) => isAbout(f, path)));
    return shown ? undefined : this.message;
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

/** Reads the error body of either server: posture has the members message and path, desktop has error_message and error_key. */
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
