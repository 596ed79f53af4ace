import type { EntityChange, Finding } from '../../api/posture';

/** One line of the activity: a resource changed, or a finding was raised or resolved. */
export type Event =
  { at: string; what: 'change'; change: EntityChange; raised: Finding[] } | { at: string; what: 'raised' | 'resolved'; finding: Finding };

/** How long after a change a finding of the same resource counts as raised by it: the evaluation follows within seconds. */
const cause = 60_000;

const time = (text: string) => new Date(text).getTime();

/** The findings of a resource that a change of it raised. */
export const raisedBy = (changed: string, findings: Finding[]): Finding[] =>
  findings.filter((f) => {
    const after = time(f.creationTime) - time(changed);
    return after >= 0 && after <= cause;
  });

/** Changes and findings as lines, newest first. Findings before the oldest change that was read are left out while there are more changes. */
export function eventsOf(changes: EntityChange[], findings: Finding[], from: number, more: boolean): Event[] {
  const oldest = more ? Math.max(from, ...changes.slice(-1).map((c) => time(c.lastUpdateTime))) : from;
  const raised = (c: EntityChange) =>
    raisedBy(
      c.lastUpdateTime,
      findings.filter((f) => f.entityId === c.entityId),
    );
  return [
    ...changes.map((change): Event => ({ at: change.lastUpdateTime, what: 'change', change, raised: raised(change) })),
    ...findings.flatMap((finding): Event[] => [
      { at: finding.creationTime, what: 'raised', finding },
      ...(finding.resolvedTime ? [{ at: finding.resolvedTime, what: 'resolved' as const, finding }] : []),
    ]),
  ]
    .filter((e) => time(e.at) >= oldest)
    .sort((a, b) => b.at.localeCompare(a.at));
}

export interface Bar {
  from: number;
  changes: number;
  raised: number;
}

/** The bars of a range: changes as the server counted them, and findings raised. */
export function barsOf(
  range: { from: number; to: number; step: number },
  counts: { from: string; added: number; updated: number; deleted: number }[],
  findings: Finding[],
): Bar[] {
  const first = Math.floor(range.from / range.step);
  const bars = Array.from({ length: Math.ceil(range.to / range.step) - first }, (_, i): Bar => ({
    from: (first + i) * range.step,
    changes: 0,
    raised: 0,
  }));
  const at = (text: string) => bars[Math.floor(time(text) / range.step) - first];
  for (const c of counts) {
    const bar = at(c.from);
    if (bar) bar.changes += c.added + c.updated + c.deleted;
  }
  for (const f of findings) {
    const bar = at(f.creationTime);
    if (bar) bar.raised++;
  }
  return bars;
}
