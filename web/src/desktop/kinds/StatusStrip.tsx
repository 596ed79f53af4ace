import type { StatusChange } from '../../api/desktop';
import { clockTime, day } from '../../parts/time';
import type { Status } from '../status';
import { spansOf } from './spans';
import { TimeAxis } from './TimeAxis';

/** The statuses of a component between two times. By default: in the last hour, or since its first change if that is longer ago. */
export function StatusStrip({
  changes,
  now,
  from = Math.min(Date.now() - 3_600_000, ...changes.map((c) => c.timestamp - 60_000)),
  to = Date.now(),
  axis = true,
}: {
  changes: StatusChange[];
  now: Status;
  from?: number;
  to?: number;
  /** Shows the times of both ends below the strip. Off where several strips share one axis. */
  axis?: boolean;
}) {
  const spans = spansOf(changes, now, from, to);
  const label = (t: number) => (to - from > 36 * 3_600_000 ? day(t) : clockTime(t).slice(0, 5));
  return (
    <div className="strip-box">
      <div className="stackbar tall" role="img" aria-label={spans.map((s) => `${s.status} from ${label(s.from)}`).join(', ')}>
        {spans.map((s) => (
          <span
            key={s.from}
            className={`b-${s.status}`}
            style={{ width: `${(100 * (s.to - s.from)) / (to - from)}%` }}
            title={`${s.status} from ${label(s.from)} to ${label(s.to)}`}
          />
        ))}
      </div>
      {axis && <TimeAxis from={from} to={to} label={label} />}
    </div>
  );
}
