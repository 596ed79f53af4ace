import { ApiError, type FieldError } from '../../api/error';

/**
 * The errors in a query that the server reports. An error without the members line and column may have its position in the message, such as
 * "line 3, column 24".
 */
export function queryProblems(error: unknown): FieldError[] {
  if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) return [];
  const all = error.fields.length ? error.fields : [{ path: '', message: error.message }];
  return all.map((f) => {
    if (f.line) return f;
    const place = /\bline (\d+), column (\d+)/.exec(f.message);
    return place ? { ...f, line: Number(place[1]), column: Number(place[2]) } : f;
  });
}
