import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Buckets } from '../../api/posture';
import type { Search } from '../../frame/address';
import { StackBar } from '../../parts/Bars';
import { Icon } from '../../parts/Icon';
import { useKeys } from '../../parts/keys';
import { Answer, Empty } from '../../parts/states';
import { count, nameInId, typeInId } from '../../parts/text';
import { buckets, findingsQuery, useAccountNames, useRules } from '../data';
import { filtersOf, groupField, sortsOf, type Group } from './filters';
import { FindingRow } from './FindingRow';

type Grouping = Exclude<Group, 'none'>;
/** The filter of the API for the findings of one group. */
const groupFilter = { rule: 'ruleIds', resource: 'objectIds', account: 'cloudAccountIds', service: 'services' } as const;

/** At most this many groups are shown. One more is requested, to know whether there are others. */
const mostGroups = 500;

interface Props {
  search: Search;
  grouping: Grouping;
  compact: boolean;
  selected: Set<string>;
  onSelect: (id: string) => void;
}

function Members({ search, grouping, value, compact, selected, onSelect }: Props & { value: string }) {
  const query = useQuery(
    findingsQuery({
      filters: { ...filtersOf(search), [groupFilter[grouping]]: [value] },
      sorts: sortsOf(search),
      paginationInfo: { pageSize: 100 },
    }),
  );
  const rules = useRules();
  const accountName = useAccountNames();
  return (
    <Answer query={query} what="the group" rows={3}>
      {(page) => (
        <ul>
          {page.results.map((f) => (
            <li key={f.id}>
              <FindingRow
                finding={f}
                ruleName={rules.get(f.ruleId)?.name ?? f.ruleId}
                accountName={accountName(f.cloudAccountId)}
                compact={compact}
                on={search.f === f.id}
                cursor={false}
                selected={selected.has(f.id)}
                onSelect={onSelect}
                search={search}
              />
            </li>
          ))}
          {page.totalCount > page.results.length && (
            <li className="group-more t3 small">
              and {count(page.totalCount - page.results.length)} more: filter by this {grouping} to see them
            </li>
          )}
        </ul>
      )}
    </Answer>
  );
}

function useGroupName(grouping: Grouping): (value: string) => string {
  const rules = useRules();
  const accountName = useAccountNames();
  return (value) => {
    if (grouping === 'rule') return rules.get(value)?.name ?? value;
    if (grouping === 'account') return accountName(value);
    return grouping === 'resource' ? `${nameInId(value)} · ${typeInId(value)}` : value;
  };
}

const levels = (of: Buckets | undefined) =>
  ['High', 'Medium', 'Low'].map((level) => ({ name: level.toLowerCase(), value: of?.buckets[level]?.count ?? 0 }));

/** Findings by rule, resource, account or service; a group opens in place. */
export function GroupedList(props: Props) {
  const { search, grouping } = props;
  const [open, setOpen] = useState<Set<string>>(new Set());
  const name = useGroupName(grouping);
  const query = useQuery(
    findingsQuery({
      filters: filtersOf(search),
      aggregations: {
        group: { fieldName: groupField[grouping], termsCount: mostGroups + 1, subAggregations: { level: { fieldName: 'level' } } },
      },
      paginationInfo: { pageSize: 1 },
    }),
  );
  const toggle = (value: string) =>
    setOpen((before) => new Set(before.has(value) ? [...before].filter((v) => v !== value) : [...before, value]));
  const move = (by: number) => {
    const heads = [...document.querySelectorAll<HTMLElement>('.group-head')];
    const at = heads.indexOf(document.activeElement as HTMLElement);
    heads[Math.max(0, Math.min(heads.length - 1, at < 0 ? 0 : at + by))]?.focus();
  };
  useKeys([
    { keys: ']', does: 'Next group', run: () => move(1) },
    { keys: '[', does: 'Previous group', run: () => move(-1) },
  ]);
  return (
    <Answer query={query} what="the list" padded>
      {(page) => {
        const groups = buckets(page.aggregations?.group);
        const largest = groups[0]?.count ?? 1;
        if (groups.length === 0) return <Empty padded title="No finding matches" />;
        return (
          <div className="finding-scroll grouped" tabIndex={0} role="region" aria-label="Groups of findings">
            {groups.slice(0, mostGroups).map((g) => (
              <section key={g.value}>
                <button type="button" className="group-head" aria-expanded={open.has(g.value)} onClick={() => toggle(g.value)}>
                  <Icon name={open.has(g.value) ? 'down' : 'right'} small />
                  <span className="strong cut grow">{name(g.value)}</span>
                  <span className="group-bar">
                    <StackBar parts={levels((g as { subAggregations?: Record<string, Buckets> }).subAggregations?.level)} total={largest} />
                  </span>
                  <span className="num group-count">{count(g.count)}</span>
                </button>
                {open.has(g.value) && <Members {...props} value={g.value} />}
              </section>
            ))}
            {groups.length > mostGroups && (
              <p className="group-more t3 small">Only the {mostGroups} largest groups are shown. Filter the findings to see others.</p>
            )}
          </div>
        );
      }}
    </Answer>
  );
}
