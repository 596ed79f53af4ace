import { plural } from '../../parts/text';

/** What a dry run found, and which findings its resources have already. */
export interface Found {
  violating: number;
  /** How many accounts have a violating resource. */
  accounts: number;
  level: string;
  /** Open findings of the rule itself. */
  own: number;
  /** The other rule that most of the resources violate. */
  other?: { name: string; count: number } | undefined;
}

/** What enabling a rule would do, in sentences. */
export function effect({ violating, accounts, level, own, other }: Found): string {
  if (violating === 0) return 'no finding is raised.';
  const fresh = Math.max(0, violating - own);
  const sentences = [];
  if (fresh > 0) sentences.push(`${plural(fresh, 'new finding')} of level ${level} in ${plural(accounts, 'account')}.`);
  if (own > 0) sentences.push(`${plural(Math.min(own, violating), 'finding')} ${own === 1 ? 'is' : 'are'} there already.`);
  if (other && other.count > 0) {
    const all = other.count >= violating;
    const who = violating === 1 ? 'The resource' : all ? `All ${plural(violating, 'resource')}` : plural(other.count, 'resource');
    sentences.push(`${who} already ${violating === 1 || other.count === 1 ? 'has' : 'have'} “${other.name}”.`);
  }
  return sentences.join(' ');
}

/** Two of the properties that a rule reads, as columns beside what it found: at first those that the resources themselves have. */
export function columnsOf(reads: string[], found: { properties: { name: string }[] }[]): string[] {
  const own = new Set(found.flatMap((r) => r.properties.map((p) => p.name)));
  return [...new Set(reads)].sort((a, b) => Number(own.has(b)) - Number(own.has(a))).slice(0, 2);
}
