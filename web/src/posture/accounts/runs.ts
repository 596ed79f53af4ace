import type { Account, Run } from '../../api/posture';

/** What lists show of a run. */
export type RunSummary = Pick<Run, 'collectionId' | 'status' | 'startTime' | 'progress'> & { endTime?: string };

/**
 * The runs of an account, newest first. The list has only the newest runs of the organisation: with many accounts it may leave
 * out the last one of this account, which the account itself names.
 */
export function runsOf(account: Account, runs: Run[]): RunSummary[] {
  const own: RunSummary[] = runs.filter((r) => r.cloudAccountId === account.cloudAccountId);
  const last = account.lastCollection as RunSummary | undefined; // its status is a string in the schema
  const isMissing = last !== undefined && own.every((r) => r.collectionId !== last.collectionId);
  return (isMissing ? [last, ...own] : own).sort((a, b) => b.startTime.localeCompare(a.startTime));
}
