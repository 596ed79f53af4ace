import type { StatusChange } from '../../api/desktop';
import { healthMark, type Status } from '../status';

interface Span {
  status: Status;
  from: number;
  to: number;
}

/**
 * Turns changes, in any order, into spans of one status each. The first span has the health from before the first change. Without
 * changes, there is one span, with the status `now`.
 */
export function spansOf(changes: StatusChange[], now: Status, from: number, to: number): Span[] {
  const sorted = [...changes].sort((a, b) => a.timestamp - b.timestamp);
  const first = sorted[0];
  const spans: Span[] = [{ status: first ? healthMark(first.from_health) : now, from, to }];
  for (const change of sorted) {
    const last = spans.at(-1);
    if (!last || change.timestamp >= to) continue;
    if (change.timestamp <= from) {
      last.status = healthMark(change.to_health);
      continue;
    }
    last.to = change.timestamp;
    spans.push({ status: healthMark(change.to_health), from: change.timestamp, to });
  }
  return spans.filter((s) => s.to > s.from);
}
