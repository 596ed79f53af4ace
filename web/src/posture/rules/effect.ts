import { plural } from '../../parts/text';

/** What a dry run found, and which findings its resources have already. */
export interface Found {
  violating: number;
  /** Number of violating resources whose findings were counted: large results are not listed in full. Undefined until the answer is there. */
  compared: number | undefined;
  /** How many accounts have a violating resource. */
  accounts: number;
  /** How many accounts have a violating resource without a finding of the rule. Undefined if that is not known. */
  newAccounts?: number | undefined;
  level: string;
  /** Open findings of the rule itself, of the compared resources. */
  own: number;
  /** The other rule that most of the compared resources violate. */
  other?: { name: string; count: number } | undefined;
}

/** What enabling a rule would do: the text after “If you enable it:”. */
export function effect({ violating, compared, accounts, newAccounts, level, own, other }: Found): string {
  if (violating === 0) return 'no finding is raised.';
  if (compared === undefined) return `${plural(violating, 'finding')} of level ${level} in ${plural(accounts, 'account')}.`;
  // Which findings the resources have that were not compared is not known, so the counts are bounds.
  const [upTo, atLeast] = compared < violating ? ['Up to ', 'At least '] : ['', ''];
  const present = Math.min(own, violating);
  const fresh = violating - present;
  const sentences = [];
  const where = present === 0 ? accounts : newAccounts;
  const inAccounts = where === undefined ? '' : ` in ${plural(where, 'account')}`;
  if (fresh > 0) sentences.push(`${upTo}${plural(fresh, 'new finding')} of level ${level}${inAccounts}.`);
  if (present > 0) sentences.push(`${atLeast}${plural(present, 'finding')} ${present === 1 ? 'is' : 'are'} there already.`);
  if (other && other.count > 0) {
    const count = Math.min(other.count, violating);
    let who = `${atLeast}${plural(count, 'resource')}`;
    if (violating === 1) who = 'The resource';
    else if (count === violating) who = `All ${plural(violating, 'resource')}`;
    sentences.push(`${who} already ${count === 1 ? 'has' : 'have'} “${other.name}”.`);
  }
  return sentences.join(' ');
}

/** How many accounts have more violating resources than resources with a finding of the rule. */
export function accountsWithNew(accounts: { id: string; violating: number }[], own: { value: string; count: number }[]): number {
  const present = new Map(own.map((b) => [b.value, b.count]));
  return accounts.filter((a) => a.violating > (present.get(a.id) ?? 0)).length;
}

/** The two columns of the results: properties that the rule reads, preferably those that the found resources themselves have. */
export function columnsOf(reads: string[], found: { properties: { name: string }[] }[]): string[] {
  const own = new Set(found.flatMap((r) => r.properties.map((p) => p.name)));
  return [...new Set(reads)].sort((a, b) => Number(own.has(b)) - Number(own.has(a))).slice(0, 2);
}
