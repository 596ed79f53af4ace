/** How many resources the API sorts at most. */
export const maxSorted = 50_000;

const fields = new Map([
  ['name', 'entityName'],
  ['type', 'entityType'],
  ['account', 'cloudAccountId'],
  ['region', 'region'],
  ['changed', 'lastUpdateTime'],
]);

/** The column and the order of a sort in an address, such as "-name". */
export function fieldOf(sort: string | undefined): [string | undefined, 'asc' | 'desc'] {
  return sort?.startsWith('-') ? [sort.slice(1), 'desc'] : [sort, 'asc'];
}

/** The sorts of a query for the sort in an address. An unknown column does not sort. */
export function sortsOf(sort: string | undefined): { fieldName: string; order: 'asc' | 'desc' }[] {
  const [column, order] = fieldOf(sort);
  const fieldName = column?.startsWith('property.') ? column : fields.get(column ?? '');
  return fieldName ? [{ fieldName, order }] : [];
}

/** The sort after a click on a column: ascending, descending, then none. */
export function nextSort(sort: string | undefined, by: string): string | undefined {
  if (sort === by) return `-${by}`;
  return sort === `-${by}` ? undefined : by;
}
