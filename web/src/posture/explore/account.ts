export type Language = 'gremlin' | 'search';

/**
 * The account that a query is run on: an id, "all", or '' if the query names no account. A Gremlin query runs on the account in the
 * address, or else on the first; on "all" accounts it runs one after the other. A search covers all accounts unless it names one, so for
 * it an "all" that was chosen for Gremlin means ''.
 */
export function accountOf(given: string | undefined, language: Language, first: string | undefined): string {
  if (language === 'gremlin') return given ?? first ?? '';
  return given === undefined || given === 'all' ? '' : given;
}
