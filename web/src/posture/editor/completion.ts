import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import type { Schema } from '../../api/posture';

const steps = [
  'V',
  'has',
  'hasNot',
  'hasLabel',
  'hasId',
  'out',
  'in',
  'both',
  'outE',
  'inE',
  'bothE',
  'where',
  'not',
  'and',
  'or',
  'union',
  'repeat',
  'times',
  'emit',
  'until',
  'path',
  'values',
  'valueMap',
  'project',
  'by',
  'count',
  'groupCount',
  'group',
  'order',
  'limit',
  'dedup',
  'optional',
  'select',
  'as',
  'fold',
  'unfold',
  'is',
  'simplePath',
];

/** Completes steps after a dot; types, properties and edges within quotes. */
export function completeGremlin(schema: Schema | undefined) {
  const names = new Map<string, Completion>();
  for (const type of schema?.types ?? []) {
    names.set(type.entityType, { label: type.entityType, type: 'class', detail: type.description });
    for (const p of type.properties)
      if (!names.has(p.name)) names.set(p.name, { label: p.name, type: 'property', detail: p.type, info: p.description });
    for (const e of type.edges)
      if (!names.has(e.label)) names.set(e.label, { label: e.label, type: 'constant', detail: 'edge', info: e.description });
  }
  const quoted = [...names.values()];
  const afterDot = steps.map((label): Completion => ({ label, type: 'function' }));
  return (context: CompletionContext): CompletionResult | null => {
    const inQuotes = context.matchBefore(/['"][\w.]*/);
    if (inQuotes) return { from: inQuotes.from + 1, options: quoted, validFor: /^[\w.]*$/ };
    const word = context.matchBefore(/\.?\w*/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    return { from: word.from + (word.text.startsWith('.') ? 1 : 0), options: afterDot, validFor: /^\w*$/ };
  };
}

/** Completes fields and properties of the search language. */
export function completeSearch(schema: Schema | undefined) {
  const names = new Map<string, Completion>(
    ['entityType', 'entityName', 'cloudAccountId', 'region', 'service', 'provider'].map((f) => [f, { label: f, type: 'keyword' }]),
  );
  for (const type of schema?.types ?? []) {
    names.set(type.entityType, { label: type.entityType, type: 'class', detail: type.description });
    for (const p of type.properties)
      names.set(`property.${p.name}`, { label: `property.${p.name}`, type: 'property', detail: p.type, info: p.description });
  }
  for (const word of ['AND', 'OR', 'NOT', 'exists(']) names.set(word, { label: word, type: 'keyword' });
  const options = [...names.values()];
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w.]*/);
    if (!word || (word.from === word.to && !context.explicit)) return null;
    return { from: word.from, options, validFor: /^[\w.]*$/ };
  };
}
