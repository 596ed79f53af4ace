export type Language = 'gremlin' | 'search';

/**
 * The account that a query is about, of the account in the address. "all" stays in the address when the language changes: Gremlin
 * asks one account after the other, and a search, which is about all unless it names some, names none.
 */
export const accountOf = (given: string | undefined, language: Language, first: string | undefined): string =>
  language === 'gremlin' ? (given ?? first ?? '') : given === 'all' ? '' : (given ?? '');
