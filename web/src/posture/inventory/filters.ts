import type { EntityFilters } from '../../api/posture';
import { listOf, type Search } from '../../frame/address';

/**
 * Whether a text is in the search language. Every condition of it has an operator or exists(…). Words alone count only in capitals,
 * for the message about what is missing: "not" in small letters is a word of names such as do-not-delete.
 */
export const isCondition = (q: string) => /[=<>]|\bAND\b|\bOR\b|\bNOT\b/.test(q) || /\bexists\s*\(/i.test(q);

/** The filters of an address. Plain words match the beginnings of words in names; text with an operator is in the search language. */
export function filtersOf(search: Search, type: string | undefined): EntityFilters {
  const q = search.q ?? '';
  return {
    ...(type ? { entityTypes: [type] } : {}),
    ...(search.account ? { cloudAccountIds: listOf(search.account) } : {}),
    ...(q ? (isCondition(q) ? { query: q } : { nameSearch: q }) : {}),
  };
}
