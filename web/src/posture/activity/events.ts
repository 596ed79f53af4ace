import type { EntityChange, Finding } from '../../api/posture';

/** One line of the activity: a resource changed, or a finding was raised or resolved. */
export type Event =
  { at: string; what: 'change'; change: EntityChange; raised: Finding[] } | { at: string; what: 'raised' | 'resolved'; finding: Finding };

/** A finding counts as raised by a change if it follows within ten minutes. The evaluation takes seconds, but minutes on a busy server. */
const raisedWithin = 600_000;

const time = (text: string) => new Date(text).getTime();

/** The findings of a resource that one of its changes raised: those between this change and the next. */
export const raisedBy = (changed: string, findings: Finding[], next?: string): Finding[] => {
  const from = time(changed);
  const until = Math.min(from + raisedWithin, next ? time(next) - 1 : Infinity);
  return findings.filter((f) => {
    const at = time(f.creationTime);
    return at >= from && at <= until;
  });
};

function byEntity<T extends { entityId: string }>(all: T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(one.entityId);
    if (group) group.push(one);
    else groups.set(one.entityId, [one]);
  }
  return groups;
}

/**
 * Changes and findings as lines, newest first. The changes are given newest first. If the server has more of them, findings that are
 * older than the last change are left out.
 */
export function eventsOf(changes: EntityChange[], findings: Finding[], from: number, more: boolean): Event[] {
  const oldestChange = changes.at(-1);
  const oldest = more && oldestChange ? Math.max(from, time(oldestChange.lastUpdateTime)) : from;
  const found = byEntity(findings);
  const changed = byEntity(changes);
  const raised = (c: EntityChange) => {
    const own = found.get(c.entityId);
    if (!own) return [];
    const later = (changed.get(c.entityId) ?? []).map((x) => x.lastUpdateTime).filter((t) => t > c.lastUpdateTime);
    return raisedBy(c.lastUpdateTime, own, later.sort()[0]);
  };
  return [
    ...changes.map((change): Event => ({ at: change.lastUpdateTime, what: 'change', change, raised: raised(change) })),
    ...findings.flatMap((finding): Event[] => [
      { at: finding.creationTime, what: 'raised', finding },
      ...(finding.resolvedTime ? [{ at: finding.resolvedTime, what: 'resolved' as const, finding }] : []),
    ]),
  ]
    .filter((e) => time(e.at) >= oldest)
    .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
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
  const barAt = (text: string) => bars[Math.floor(time(text) / range.step) - first];
  for (const c of counts) {
    const bar = barAt(c.from);
    if (bar) bar.changes += c.added + c.updated + c.deleted;
  }
  for (const f of findings) {
    const bar = barAt(f.creationTime);
    if (bar) bar.raised++;
  }
  return bars;
}
