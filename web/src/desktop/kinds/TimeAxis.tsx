import { axisEnd } from '../../parts/time';

/** The two ends of a range of time below a strip. */
export function TimeAxis({ from, to, label }: { from: number; to: number; label: (time: number) => string }) {
  return (
    <span className="row small t3">
      <span>{label(from)}</span>
      <span className="end">{axisEnd(to, label)}</span>
    </span>
  );
}
