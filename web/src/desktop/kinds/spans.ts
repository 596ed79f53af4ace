import type { StatusChange } from '../../api/desktop';
import { markOf, type Status } from '../status';

interface Span {
  status: Status;
  from: number;
  to: number;
}

/** Spans of one status each, out of changes in any order. What was before the first change is its from_status. */
export function spansOf(changes: StatusChange[], now: Status, from: number, to: number): Span[] {
  const sorted = [...changes].sort((a, b) => a.timestamp - b.timestamp);
  const first = sorted[0];
  const spans: Span[] = [{ status: first ? markOf(first.from_status) : now, from, to }];
  for (const change of sorted) {
    const last = spans.at(-1);
    if (!last || change.timestamp >= to) continue;
    if (change.timestamp <= from) {
      last.status = markOf(change.to_status);
      continue;
    }
    last.to = change.timestamp;
    spans.push({ status: markOf(change.to_status), from: change.timestamp, to });
  }
  return spans.filter((s) => s.to > s.from);
}
