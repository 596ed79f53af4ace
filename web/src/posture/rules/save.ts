import { posture, type Rule, type RuleEdit, type RuleSpec } from '../../api/posture';
import type { Answer } from '../../api/request';
import { gremlinOf } from '../graph/load';

/** A rule in the editor. Its queries are plain text, not the JSON that the API stores. */
export interface Draft extends RuleSpec {
  language: 'Graph' | 'Search';
  /** Id of the rule whose parameters and table define the variables of the query: this rule, or the one that it was copied from. */
  variablesOf?: string;
  /** Names of the parameters whose field holds a text that is not a value. While there are any, the draft is not saved: it would save values that the user does not see. */
  unfinished?: string[];
}

export const labels: Record<string, string> = {
  name: 'Name',
  displayName: 'Id',
  level: 'Level',
  category: 'Category',
  service: 'Service',
  description: 'Why it matters',
  suggestedAction: 'What to do',
  documentationLink: 'Link',
  query: 'Query',
  visualizationQuery: 'Picture',
  complianceControlIds: 'Controls',
  parameterValues: 'Parameters',
};

function languageOf(stored: string): Draft['language'] {
  try {
    return (JSON.parse(stored) as { inventoryQueryType?: string }).inventoryQueryType === 'Search' ? 'Search' : 'Graph';
  } catch {
    return 'Graph';
  }
}

export const draftOf = (r: Rule): Draft => ({
  name: r.name,
  displayName: r.displayName,
  provider: r.provider,
  level: r.level,
  category: r.category,
  service: r.service,
  description: r.description,
  suggestedAction: r.suggestedAction,
  documentationLink: r.documentationLink,
  query: gremlinOf(r.query),
  language: languageOf(r.query),
  complianceControlIds: r.complianceControlIds,
  visualizationQuery: gremlinOf(r.visualizationQuery),
  parameters: r.parameters,
  parameterValues: r.parameterValues,
  variablesOf: r.id,
});

/** A draft with the changes that lead from one draft to another. */
export const withChanges = (draft: Draft, from: Draft, to: Draft): Draft => ({
  ...draft,
  ...Object.fromEntries(Object.entries(to).filter(([name, value]) => value !== from[name as keyof Draft])),
});

/** A query in the JSON that the API stores. */
const queryJson = (text: string, language: Draft['language'] = 'Graph') =>
  JSON.stringify({ inventoryQueryType: language, queryString: text });
export const storedQuery = (d: Draft) => queryJson(d.query, d.language);

/** The query with its variables, as requests to check and to test it send it. */
export const queryBody = (d: Draft) => ({
  query: storedQuery(d),
  ...(d.variablesOf ? { ruleId: d.variablesOf, parameterValues: d.parameterValues ?? {} } : {}),
});

/** The query with its variables as a text, to compare it with the one that was sent. */
export const queryText = (d: Draft) => JSON.stringify(queryBody(d));

/** A rule and the version that was read. */
export interface Versioned {
  rule: Rule;
  etag: string;
}

export async function readRule(id: string): Promise<Versioned> {
  const { data, headers } = await posture.answer('get', '/v1/rules/{rule_id}', { path: { rule_id: id } });
  return { rule: data, etag: headers.get('ETag') ?? '' };
}

/** The members of PUT that differ from what is stored. */
function editOf(draft: Draft, rule: Rule): RuleEdit {
  const before = draftOf(rule);
  const edit: RuleEdit = {};
  for (const name of ['name', 'displayName', 'description', 'suggestedAction', 'documentationLink', 'service'] as const)
    if ((draft[name] ?? '') !== (before[name] ?? '')) edit[name] = draft[name] ?? '';
  if (draft.query !== before.query || draft.language !== before.language) edit.query = storedQuery(draft);
  if ((draft.visualizationQuery ?? '') !== (before.visualizationQuery ?? ''))
    edit.visualizationQuery = draft.visualizationQuery ? queryJson(draft.visualizationQuery) : '';
  if ((draft.complianceControlIds ?? []).join() !== (before.complianceControlIds ?? []).join())
    edit.complianceControlIds = draft.complianceControlIds ?? [];
  return edit;
}

const same = (a: unknown, b: unknown) => JSON.stringify(a ?? {}) === JSON.stringify(b ?? {});

/**
 * Saves changes of a stored rule: texts and queries by PUT, the rest by PATCH. Both fail with 412 if the rule has changed since it was read.
 * PATCH may fail after PUT has stored its part. onStored receives each stored version: the next attempt must be based on it.
 */
export async function saveRule(
  draft: Draft,
  status: Rule['status'],
  { rule, etag }: Versioned,
  onStored: (version: Versioned) => void,
): Promise<void> {
  const path = { rule_id: rule.id };
  const edit = editOf(draft, rule);
  let version = etag;
  const noteVersion = ({ data, headers }: Answer<Rule>) => {
    version = headers.get('ETag') ?? '';
    onStored({ rule: data, etag: version });
  };
  if (Object.keys(edit).length > 0) noteVersion(await posture.answer('put', '/v1/rules/{rule_id}', { path, body: edit, etag: version }));
  const patch = {
    ...(status !== rule.status ? { status } : {}),
    ...(draft.level !== rule.level ? { level: draft.level } : {}),
    ...(draft.category !== rule.category ? { category: draft.category ?? '' } : {}),
    ...(same(draft.parameterValues, rule.parameterValues) ? {} : { parameterValues: draft.parameterValues }),
  };
  if (Object.keys(patch).length > 0)
    noteVersion(await posture.answer('patch', '/v1/rules/{rule_id}', { path, body: patch, etag: version }));
}

/** Stores a new rule. */
export async function addRule(draft: Draft, status: Rule['status']): Promise<Versioned> {
  const { language: _, variablesOf: __, unfinished: ___, visualizationQuery, ...spec } = draft;
  const { data, headers } = await posture.answer('post', '/v1/rules', {
    body: {
      ...spec,
      status,
      query: storedQuery(draft),
      ...(visualizationQuery ? { visualizationQuery: queryJson(visualizationQuery) } : {}),
    },
  });
  return { rule: data as Rule, etag: headers.get('ETag') ?? '' };
}
