import type { Account, Run } from '../api/posture';

/** The types that a run could not read, and why. */
export const unreadTypes = (run: Run) =>
  Object.entries(run.collectorStatus)
    .filter(([, c]) => c.status !== 'Success')
    .map(([type, c]) => ({ type, why: c.errors?.[0] ?? c.message ?? 'It could not be read' }));

/** The types that the newest run of an account could not read, and why in one of the accounts. Older runs no longer matter. */
export function unreadNow(accounts: Account[], incomplete: Run[]): Map<string, string> {
  const newest = new Set(accounts.map((a) => a.lastCollection?.collectionId));
  return new Map(
    incomplete
      .filter((r) => newest.has(r.collectionId))
      .flatMap(unreadTypes)
      .map((u) => [u.type, u.why]),
  );
}
