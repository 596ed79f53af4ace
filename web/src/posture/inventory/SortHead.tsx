import type { ReactNode } from 'react';
import { Icon } from '../../parts/Icon';
import { fieldOf, nextSort } from './sort';

export { maxSorted, sortsOf } from './sort';

interface Props {
  /** The name of the column in the address. */
  by: string;
  sort: string | undefined;
  /** There are too many resources to sort. */
  off: boolean;
  className?: string;
  onSort: (sort: string | undefined) => void;
  children: ReactNode;
}

/** A column head whose button sorts the list: ascending, then descending, then not. */
export function SortHead({ by, sort, off, className, onSort, children }: Props) {
  const [field, order] = fieldOf(sort);
  const here = field === by;
  return (
    <th scope="col" className={className} aria-sort={here ? (order === 'desc' ? 'descending' : 'ascending') : undefined}>
      <button
        type="button"
        className="sort"
        disabled={off && !here}
        title={off && !here ? 'At most 50,000 resources can be sorted: choose a type or an account' : undefined}
        onClick={() => onSort(nextSort(sort, by))}
      >
        {children}
        {here && <Icon name={order === 'desc' ? 'down' : 'up'} small />}
      </button>
    </th>
  );
}
