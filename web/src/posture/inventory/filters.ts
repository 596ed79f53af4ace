import type { EntityFilters } from '../../api/posture';
import { listOf, type Search } from '../../frame/address';
import { quoted } from '../graph/model';
import { fieldOf } from './sort';

/**
 * Whether a text is in the search language: every condition has an operator or exists(…). AND, OR and NOT count too, so that the server
 * can say what is missing; but only in capitals, because names such as do-not-delete contain these words.
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
 * nor digit, or at a capital. A single character must be a whole word. Unlike the inventory, it also finds capitals inside of
 * abbreviations ("ec" in SEC), and words after the twelfth of a name.
 */
function namePattern(word: string): string {
  const [first = '', ...rest] = word;
  const after = word === first ? '([^\\p{L}\\p{Nd}]|$)' : '';
  const start = `(^|[^\\p{L}\\p{Nd}])(?i:${word})${after}`;
  const capital = first.toUpperCase();
  return capital === first ? start : `${start}|${capital}${rest.length ? `(?i:${rest.join('')})` : ''}${after}`;
}

/** The search parameters of Explore for what the inventory lists: a search if there is a condition, otherwise a Gremlin query. */
export function exploreOf(search: Search, type: string | undefined): Search {
  const { q = '', account } = search;
  if (isCondition(q)) return { lang: 'search', q: type ? `entityType = ${type} AND (${q})` : q, account };
  const words = q.toLowerCase().match(/[\p{L}\p{Nd}]+/gu) ?? [];
  const names = words.map((w) => `.has('entityName', regex(${quoted(namePattern(w))}))`);
  return { q: `g.V()${type ? `.hasLabel(${quoted(type)})` : ''}${names.join('')}.limit(100)`, account };
}

/** The search parameters of the inventory for another type, without the chosen columns, and without a sort by a column that its list does not have. */
export function withType(search: Search, type: string | undefined): Search {
  if (type === search.type) return search;
  const [column = ''] = fieldOf(search.sort);
  const columnIsGone = column.startsWith('property.') || (column === 'type' && type !== undefined);
  return { ...search, type, columns: undefined, sort: columnIsGone ? undefined : search.sort };
}
