import type { StatusChange } from '../../api/desktop';

/** Changes of one component to one status within a minute: one dead controller is one line. */
export interface ChangeGroup {
  at: number;
  name: string;
  part: string;
  from: string;
  to: string;
  reason: string;
  parts: number;
}

const within = 60_000;

export function groupChanges(changes: StatusChange[]): ChangeGroup[] {
  const groups: ChangeGroup[] = [];
  for (const c of [...changes].sort((a, b) => b.timestamp - a.timestamp)) {
    const known = groups.find((g) => g.name === c.name && g.to === c.to_status && g.at - c.timestamp <= within);
    if (known) known.parts++;
    else groups.push({ at: c.timestamp, name: c.name, part: c.part ?? '', from: c.from_status, to: c.to_status, reason: c.reasons[0] ?? '', parts: 1 });
  }
  return groups;
}
