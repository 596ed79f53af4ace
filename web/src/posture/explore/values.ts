/** Values as a table: names of the columns, and the rows. */
export interface ValueTable {
  columns: string[];
  rows: unknown[][];
}

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown) => isObject(value) && Object.values(value).every((n) => typeof n === 'number');

/** Several objects of numbers are projections, or maps of counts, one from each account. With more keys than this they are taken for maps. */
const mostProjected = 12;

const keysOf = (values: unknown[]) => [...new Set(values.filter(isObject).flatMap((v) => Object.keys(v)))];

/** Lays out the values of a query: counts by key, largest first; projections with a column for each member; anything else with one value a row. */
export function tableOf(values: unknown[]): ValueTable {
  const columns = keysOf(values);
  if (values.length > 0 && values.every(isCount) && (values.length === 1 || columns.length > mostProjected)) {
    const sums = new Map<string, number>();
    for (const [key, n] of values.flatMap((v) => Object.entries(v as Record<string, number>))) sums.set(key, (sums.get(key) ?? 0) + n);
    return { columns: ['Key', 'Count'], rows: [...sums].sort(([, a], [, b]) => b - a) };
  }
  if (values.length > 0 && values.every(isObject)) {
    return { columns, rows: values.map((v) => columns.map((c) => (v as Members)[c])) };
  }
  return { columns: ['Value'], rows: values.map((v) => [v]) };
}
