import { count, plural } from '../../parts/text';
import { dateTime, day, useUTC } from '../../parts/time';
import type { Bar } from './events';

/** The height of the chart above its line, and below it. */
const above = 52;
const below = 20;

interface Props {
  bars: Bar[];
  step: number;
  /** Limits the activity to the time of one bar. */
  onChoose: (from: number, to: number) => void;
}

/** Changes of resources above the line, findings raised below it. */
export function Histogram({ bars, step, onChoose }: Props) {
  useUTC();
  const most = Math.max(1, ...bars.map((b) => b.changes));
  const mostRaised = Math.max(1, ...bars.map((b) => b.raised));
  const sum = (of: (b: Bar) => number) => bars.reduce((n, b) => n + of(b), 0);
  const hourly = step < 86_400_000;
  const label = (at: number) => (hourly ? dateTime(at).slice(0, -3) : day(at));
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => bars[Math.floor(part * bars.length)]).filter((b) => b !== undefined);
  return (
    <figure className="region activity-chart">
      <figcaption className="row wrap small t2">
        <span className="key-changes">
          {plural(
            sum((b) => b.changes),
            'change',
          )}{' '}
          of resources
        </span>
        <span className="key-raised">
          {plural(
            sum((b) => b.raised),
            'finding',
          )}{' '}
          raised
        </span>
        <span className="t3 end wide">
          per {hourly ? 'hour' : 'day'}, at most {count(most)}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${bars.length * 10} ${above + below}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Changes of resources and findings raised per ${hourly ? 'hour' : 'day'}`}
      >
        <line x1="0" x2="100%" y1={above} y2={above} className="gl-strong" />
        {bars.map((b, i) => {
          const up = (b.changes * (above - 4)) / most;
          const down = (b.raised * below) / mostRaised;
          return (
            <g key={b.from} className="activity-bar" onClick={() => onChoose(b.from, b.from + step)}>
              <title>{`${label(b.from)}: ${plural(b.changes, 'change')}, ${plural(b.raised, 'finding')} raised`}</title>
              <rect className="hit" x={i * 10} width="10" y="0" height={above + below} />
              {b.changes > 0 && <rect className="changes" x={i * 10 + 1} width="8" y={above - Math.max(up, 2)} height={Math.max(up, 2)} />}
              {b.raised > 0 && <rect className="raised" x={i * 10 + 1} width="8" y={above + 1} height={Math.max(down, 2)} />}
            </g>
          );
        })}
      </svg>
      <div className="activity-ticks small t3" aria-hidden="true">
        {ticks.map((b) => (
          <span key={b.from}>{label(b.from)}</span>
        ))}
      </div>
    </figure>
  );
}
