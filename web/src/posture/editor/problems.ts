import { ApiError, type FieldError } from '../../api/error';

/** What is wrong with a query. Servers that give no numbers name the place in the text: "line 3, column 24". */
export function queryProblems(error: unknown): FieldError[] {
  if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) return [];
  const all = error.fields.length ? error.fields : [{ path: '', message: error.message }];
  return all.map((f) => {
    if (f.line) return f;
    const place = /(?:line )?(\d+)(?::|, ?column )(\d+)/.exec(f.message);
    return place ? { ...f, line: Number(place[1]), column: Number(place[2]) } : f;
  });
}
