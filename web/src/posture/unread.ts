import type { Run } from '../api/posture';

/** A type that could not be read in full in an account, and why. */
export interface UnreadType {
  cloudAccountId: string;
  type: string;
  why: string;
  /** When the run started that could not read it. */
  since: string;
}

/**
 * The types that are unread after these runs. For each type of an account the newest finished run that covers the type decides:
 * a run can be limited to some types, and says nothing about the others.
 */
export function unreadTypes(runs: Run[]): UnreadType[] {
  const decided = new Map<string, UnreadType | undefined>();
  for (const run of runs.filter((r) => r.status !== 'Started').sort((a, b) => b.startTime.localeCompare(a.startTime)))
    for (const [type, c] of Object.entries(run.collectorStatus)) {
      const key = `${run.cloudAccountId} ${type}`;
      if (decided.has(key)) continue;
      const why = c.errors?.[0] ?? c.message ?? 'It could not be read';
      decided.set(key, c.status === 'Success' ? undefined : { cloudAccountId: run.cloudAccountId, type, why, since: run.startTime });
    }
  return [...decided.values()].filter((u) => u !== undefined);
}

/** By account, the earliest `since` of its unread types. Runs that started earlier do not change which types are unread. */
export function startsOf(unread: UnreadType[]): Map<string, string> {
  const starts = new Map<string, string>();
  for (const { cloudAccountId: id, since } of unread) {
    const start = starts.get(id);
    if (start === undefined || since < start) starts.set(id, since);
  }
  return starts;
}
