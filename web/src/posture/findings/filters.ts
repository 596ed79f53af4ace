import type { FindingFilters, FindingQuery } from '../../api/posture';
import { choiceOf, listOf, type Search } from '../../frame/address';

/** A filter of findings: its name in addresses, in the API, and on the screen. */
export interface FilterKind {
  name: string;
  member:
    | 'levels'
    | 'cloudProviders'
    | 'cloudAccountIds'
    | 'services'
    | 'regions'
    | 'ruleIds'
    | 'complianceFrameworkIds'
    | 'complianceControlIds';
  field: string;
  label: string;
}

export const kinds: FilterKind[] = [
  { name: 'level', member: 'levels', field: 'level', label: 'Level' },
  { name: 'provider', member: 'cloudProviders', field: 'cloudProvider', label: 'Provider' },
  { name: 'account', member: 'cloudAccountIds', field: 'cloudAccountId', label: 'Account' },
  { name: 'service', member: 'services', field: 'service', label: 'Service' },
  { name: 'region', member: 'regions', field: 'region', label: 'Region' },
  { name: 'rule', member: 'ruleIds', field: 'ruleId', label: 'Rule' },
  { name: 'framework', member: 'complianceFrameworkIds', field: '', label: 'Framework' },
  { name: 'control', member: 'complianceControlIds', field: '', label: 'Control' },
];

/** The states of findings: a list shows the findings in one of them. */
export const states = {
  open: { label: 'Open', filters: { status: 'Open', isSuppressed: false } },
  suppressed: { label: 'Suppressed', filters: { isSuppressed: true } },
  resolved: { label: 'Resolved', filters: { status: 'Resolved' } },
} satisfies Record<string, { label: string; filters: FindingFilters }>;
export type State = keyof typeof states;

export const stateOf = (search: Search): State => choiceOf(states, search.status, 'open');

export const tagsOf = (search: Search) =>
  Object.entries(search)
    .filter(([k, v]) => k.startsWith('tag.') && v)
    .map(([k, v]) => [k.slice(4), listOf(v)] as const);

/** The filters of an address as the API takes them. `without` omits one filter, to count what each of its values would match. */
export function filtersOf(search: Search, without?: string): FindingFilters {
  const filters: FindingFilters = { ...states[stateOf(search)].filters };
  for (const kind of kinds) {
    const values = listOf(search[kind.name]);
    if (values.length && kind.name !== without) filters[kind.member] = values;
  }
  const tags = tagsOf(search).filter(([name]) => `tag.${name}` !== without);
  if (tags.length) filters.cloudTags = Object.fromEntries(tags);
  if (search.q && without !== 'q') filters.queryString = search.q;
  if (search.risk && without !== 'risk') filters.minRiskScore = Number(search.risk) || 0;
  // A day begins at 00:00 UTC, as on the server.
  if (search.since === 'today' && without !== 'since') filters.createdFrom = new Date(new Date().setUTCHours(0, 0, 0, 0)).toISOString();
  return filters;
}

// There is no sort by level: the risk score contains it, and the server has no index of it.
export const sorts = { '-risk': 'Risk', '-new': 'Newest', new: 'Oldest', '-changed': 'Changed' } as const;
export type Sort = keyof typeof sorts;
export const sortOf = (search: Search): Sort => choiceOf(sorts, search.sort, '-risk');

const orders: Record<Sort, NonNullable<FindingQuery['sorts']>> = {
  '-risk': [{ fieldName: 'riskScore', order: 'desc' }],
  '-new': [{ fieldName: 'creationTime', order: 'desc' }],
  new: [{ fieldName: 'creationTime', order: 'asc' }],
  '-changed': [{ fieldName: 'lastUpdateTime', order: 'desc' }],
};
export const sortsOf = (search: Search) => orders[sortOf(search)];

/** Names of the filters that an address sets. */
export const activeNames = (search: Search): string[] => [
  ...kinds.filter((k) => search[k.name]).map((k) => k.name),
  ...tagsOf(search).map(([name]) => `tag.${name}`),
  ...['risk', 'since', 'q'].filter((name) => search[name]),
];

/** The change of the search parameters that removes every filter. */
export const cleared = (search: Search): Search => Object.fromEntries(activeNames(search).map((name) => [name, undefined]));

export const groups = { none: 'None', rule: 'Rule', resource: 'Resource', account: 'Account', service: 'Service' } as const;
export type Group = keyof typeof groups;
export const groupOf = (search: Search): Group => choiceOf(groups, search.group, 'none');
export const groupField: Record<Exclude<Group, 'none'>, string> = {
  rule: 'ruleId',
  resource: 'entityId',
  account: 'cloudAccountId',
  service: 'service',
};
