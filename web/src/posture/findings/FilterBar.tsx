import { useState } from 'react';
import { listOf, type Search } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Icon } from '../../parts/Icon';
import { SearchInput } from '../../parts/SearchInput';
import { Select } from '../../parts/Segments';
import { someOf } from '../../parts/text';
import { useAccountNames, useRules } from '../data';
import { AddFilter } from './AddFilter';
import { activeNames, cleared, groupOf, groups, kinds, sortOf, sorts, type Group, type Sort } from './filters';

interface Props {
  search: Search;
  change: (patch: Search) => void;
}

/** Returns functions for the names that users see of a filter in the URL, and of its values. */
export function useFilterLabels() {
  const accountName = useAccountNames();
  const rules = useRules();
  const label = (name: string) =>
    kinds.find((k) => k.name === name)?.label ?? { q: 'Text', risk: 'Risk at least', since: 'Raised' }[name] ?? name.replace(/^tag\./, '');
  const value = (name: string, text: string) => {
    if (name === 'account') return accountName(text);
    if (name === 'rule') return rules.get(text)?.name ?? text;
    return name === 'control' ? text.replace('_', ' ') : text;
  };
  return {
    label,
    value: (name: string, text: string) => (name === 'q' ? text : someOf(listOf(text).map((v) => value(name, v)))),
  };
}

/** One active filter, with a way to remove it. */
export function FilterChip({ label, value, onRemove }: { label: string; value: string; onRemove: () => void }) {
  return (
    <span className="chip">
      <span className="k">{label}</span>
      <span className="v">{value}</span>
      <button type="button" aria-label={`Remove ${label}`} onClick={onRemove}>
        <Icon name="x" small />
      </button>
    </span>
  );
}

const options = <T extends string>(of: Record<T, string>) =>
  (Object.entries(of) as [T, string][]).map(([value, label]) => ({ value, label }));

/** Search, active filters, grouping and order. */
export function FilterBar({ search, change }: Props) {
  const { label, value } = useFilterLabels();
  const [adding, setAdding] = useState(false);
  const active = activeNames(search).filter((n) => n !== 'q');
  return (
    <div className="toolbar">
      <SearchInput
        label="Search findings"
        placeholder="Search rule, resource, tag"
        value={search.q ?? ''}
        onChange={(q) => change({ q: q || undefined })}
      />
      {active.map((name) => (
        <FilterChip key={name} label={label(name)} value={value(name, search[name] ?? '')} onRemove={() => change({ [name]: undefined })} />
      ))}
      <Button look="quiet" icon="plus" onClick={() => setAdding(true)}>
        Filter
      </Button>
      {(active.length > 0 || search.q) && (
        <Button look="quiet" onClick={() => change(cleared(search))}>
          Clear
        </Button>
      )}
      <span className="row end">
        <Select<Group>
          label="Group"
          visibleLabel
          value={groupOf(search)}
          options={options(groups)}
          onChange={(g) => change({ group: g === 'none' ? undefined : g })}
        />
        <Select<Sort>
          label="Sort"
          visibleLabel
          value={sortOf(search)}
          options={options(sorts)}
          onChange={(s) => change({ sort: s === '-risk' ? undefined : s })}
        />
      </span>
      {adding && <AddFilter search={search} change={change} onClose={() => setAdding(false)} />}
    </div>
  );
}
