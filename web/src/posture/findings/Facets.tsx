import { useState } from 'react';
import { joined, listOf, type Search } from '../../frame/address';
import { Mark, ProviderMark, severity } from '../../parts/marks';
import { count } from '../../parts/text';
import { buckets, accountsQuery } from '../data';
import { useQuery } from '@tanstack/react-query';
import { useFacets } from './useFindings';

interface Facet {
  name: string;
  field: string;
  label: string;
  /** What several values are called. */
  many: string;
}

const facets: Facet[] = [
  { name: 'level', field: 'level', label: 'Level', many: 'levels' },
  { name: 'account', field: 'cloudAccountId', label: 'Account', many: 'accounts' },
  { name: 'service', field: 'service', label: 'Service', many: 'services' },
  { name: 'region', field: 'region', label: 'Region', many: 'regions' },
  { name: 'tag.Environment', field: 'tag.Environment', label: 'Tag: Environment', many: 'values' },
];

const levelOrder = ['High', 'Medium', 'Low'];

interface Props {
  search: Search;
  change: (patch: Search) => void;
}

function Value({
  facet,
  value,
  n,
  on,
  toggle,
  name,
  provider,
}: {
  facet: Facet;
  value: string;
  n: number;
  on: boolean;
  toggle: () => void;
  name: string;
  provider: string | undefined;
}) {
  return (
    <label className={`facet-value ${on ? 'on' : ''}`}>
      <input type="checkbox" checked={on} onChange={toggle} />
      {facet.name === 'level' && <Mark name={severity(value)} />}
      {provider && <ProviderMark provider={provider} />}
      <span className="grow cut" title={name}>
        {name}
      </span>
      <span className="n">{count(n)}</span>
    </label>
  );
}

/** How many values of a facet are shown until the user opens all of them. */
const most = 12;

/** Values to filter by, with how many findings each would show. */
export function Facets({ search, change }: Props) {
  const query = useFacets(search);
  const [whole, setWhole] = useState<string[]>([]);
  const found = query.data?.facets ?? {};
  const accounts = new Map(useQuery(accountsQuery).data?.map((a) => [a.cloudAccountId, a]));
  return (
    <div className="facets" role="group" aria-label="Filters">
      {query.isError && !query.data && (
        <p className="small t3">
          The counts could not be read.{' '}
          <button type="button" className="link" onClick={() => void query.refetch()}>
            Try again
          </button>
        </p>
      )}
      {facets.map((facet) => {
        const chosen = listOf(search[facet.name]);
        const values = buckets(found[facet.field]);
        for (const value of chosen) if (!values.some((v) => v.value === value)) values.push({ value, count: 0 });
        if (facet.name === 'level') values.sort((a, b) => levelOrder.indexOf(a.value) - levelOrder.indexOf(b.value));
        if (values.length === 0) return null;
        const toggle = (value: string) => {
          const next = chosen.includes(value) ? chosen.filter((v) => v !== value) : [...chosen, value];
          change({ [facet.name]: joined(next) });
        };
        return (
          <fieldset key={facet.name}>
            <legend className="label">{facet.label}</legend>
            {values
              .filter((v, i) => i < most || whole.includes(facet.name) || chosen.includes(v.value))
              .map((v) => {
                const account = facet.name === 'account' ? accounts.get(v.value) : undefined;
                return (
                  <Value
                    key={v.value}
                    facet={facet}
                    value={v.value}
                    n={v.count}
                    on={chosen.includes(v.value)}
                    toggle={() => toggle(v.value)}
                    name={account?.cloudAccountName ?? (v.value || 'none')}
                    provider={account?.provider}
                  />
                );
              })}
            {values.length > most && !whole.includes(facet.name) && (
              <button type="button" className="link small" onClick={() => setWhole([...whole, facet.name])}>
                All {values.length} {facet.many}
              </button>
            )}
          </fieldset>
        );
      })}
    </div>
  );
}
