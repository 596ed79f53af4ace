import type { EntityFilters } from '../../api/posture';
import { listOf, type Search } from '../../frame/address';
import { quoted } from '../graph/model';
import { fieldOf } from './sort';

/**
 * Whether a text is in the search language. Every condition of it has an operator or exists(…). Words alone count only in capitals,
 * for the message about what is missing: "not" in small letters is a word of names such as do-not-delete.
 */
const isCondition = (q: string) => /[=<>]|\bAND\b|\bOR\b|\bNOT\b/.test(q) || /\bexists\s*\(/i.test(q);

/** The filters of an address. Plain words match the beginnings of words in names; text with an operator is in the search language. */
export function filtersOf(search: Search, type: string | undefined): EntityFilters {
  const q = search.q ?? '';
  return {
    ...(type ? { entityTypes: [type] } : {}),
    ...(search.account ? { cloudAccountIds: listOf(search.account) } : {}),
    ...(q ? (isCondition(q) ? { query: q } : { nameSearch: q }) : {}),
  };
}

/**
 * A regular expression of RE2 for names with a word that begins like this one: at the start, after a character that is neither letter
 * nor digit, or at a capital. A single character must be a whole word. Other than the inventory it finds capitals inside of
 * abbreviations too ("ec" in SEC), and words after the twelfth.
 */
function namePattern(word: string): string {
  const [first = '', ...rest] = word;
  const after = word === first ? '([^\\p{L}\\p{Nd}]|$)' : '';
  const start = `(^|[^\\p{L}\\p{Nd}])(?i:${word})${after}`;
  const capital = first.toUpperCase();
  return capital === first ? start : `${start}|${capital}${rest.length ? `(?i:${rest.join('')})` : ''}${after}`;
}

/** The address of Explore with a query for what the inventory lists: a search for a condition, Gremlin for a type and parts of names. */
export function exploreOf(search: Search, type: string | undefined): Search {
  const { q = '', account } = search;
  if (isCondition(q)) return { lang: 'search', q: type ? `entityType = ${type} AND (${q})` : q, account };
  const words = q.toLowerCase().match(/[\p{L}\p{Nd}]+/gu) ?? [];
  const names = words.map((w) => `.has('entityName', regex(${quoted(namePattern(w))}))`);
  return { q: `g.V()${type ? `.hasLabel(${quoted(type)})` : ''}${names.join('')}.limit(100)`, account };
}

/** The address of the inventory with another type. Columns of properties, and a sort by a column that it has not, belong to one type. */
export function withType(search: Search, type: string | undefined): Search {
  if (type === search.type) return search;
  const [column = ''] = fieldOf(search.sort);
  const gone = column.startsWith('property.') || (column === 'type' && type !== undefined);
  return { ...search, type, columns: undefined, sort: gone ? undefined : search.sort };
}
