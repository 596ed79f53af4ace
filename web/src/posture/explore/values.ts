/** Values as a table: names of the columns, and the rows. */
export interface ValueTable {
  columns: string[];
  rows: unknown[][];
}

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown) => isObject(value) && Object.values(value).every((n) => typeof n === 'number');

/** With more columns than this, values that have only numbers are not projections but maps of counts, one for each account. */
const wide = 12;

const keysOf = (values: unknown[]) => [...new Set(values.filter(isObject).flatMap((v) => Object.keys(v)))];

/** Lays out the values of a query: counts by key, largest first; the members of projections as columns; anything else one in a row. */
export function tableOf(values: unknown[]): ValueTable {
  const columns = keysOf(values);
  if (values.length > 0 && values.every(isCount) && (values.length === 1 || columns.length > wide)) {
    const sums = new Map<string, number>();
    for (const [key, n] of values.flatMap((v) => Object.entries(v as Record<string, number>))) sums.set(key, (sums.get(key) ?? 0) + n);
    return { columns: ['Key', 'Count'], rows: [...sums].sort(([, a], [, b]) => b - a) };
  }
  if (values.length > 0 && values.every(isObject)) {
    return { columns, rows: values.map((v) => columns.map((c) => (v as Members)[c])) };
  }
  return { columns: ['Value'], rows: values.map((v) => [v]) };
}
