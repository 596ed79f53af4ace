import type { Series } from './useOverview';

export interface Jump {
  /** Position in the series. */
  at: number;
  more: number;
  /** Accounts that were linked in that step of time. */
  linked: string[];
}

interface Linked {
  cloudAccountName: string;
  createdTime: string;
}

/**
 * The step of time with the largest increase of open findings, if it is at least five and at least a tenth of the largest count. The
 * times of the series are the beginnings of the steps.
 */
export function largestJump(series: Series, accounts: Linked[]): Jump | undefined {
  const open = series.times.map((_, i) => series.levels.reduce((sum, l) => sum + (l.open[i] ?? 0), 0));
  let at = 0;
  const increase = (i: number) => (open[i] ?? 0) - (open[i - 1] ?? 0);
  for (let i = 1; i < open.length; i++) if (at === 0 || increase(i) > increase(at)) at = i;
  const more = at === 0 ? 0 : increase(at);
  if (more < Math.max(5, Math.max(...open) / 10)) return undefined;
  const from = Date.parse(series.times[at] ?? '');
  const to = Date.parse(series.times[at + 1] ?? '') || Infinity;
  const linked = accounts.filter((a) => Date.parse(a.createdTime) >= from && Date.parse(a.createdTime) < to);
  return { at, more, linked: linked.map((a) => a.cloudAccountName) };
}

/** What is written beside the mark. */
export function jumpText({ more, linked }: Jump): string {
  if (linked.length === 0) return `+${more}`;
  return linked.length === 1 ? `${linked[0]} linked, +${more}` : `${linked.length} accounts linked, +${more}`;
}
