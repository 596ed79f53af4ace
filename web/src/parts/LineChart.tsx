import { useState, type PointerEvent } from 'react';
import { axisEnd, clockTime, dateTime, day } from './time';
import { count } from './text';
import { useWidth } from './useWidth';

export interface Line {
  label: string;
  points: { at: number; value: number; least?: number; most?: number }[];
}

interface Props {
  label: string;
  lines: Line[];
  from: number;
  to: number;
  /** Written after values. */
  unit?: string;
  /** The axis reaches at least this far. */
  atLeast?: number;
  height?: number;
}

/** A round number above the largest value, and the lines below it. */
export function scaleOf(most: number, parts = 3): { top: number; lines: number[] } {
  const rough = Math.max(most, parts) / parts;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => s >= rough) ?? rough);
  const top = Math.ceil(Math.max(most, 1) / step) * step;
  return { top, lines: Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step) };
}

/** Paths between gaps: a point that is much later than the one before begins a new one. */
function pieces(points: Line['points']): Line['points'][] {
  const steps = points
    .slice(1)
    .map((p, i) => p.at - (points[i]?.at ?? p.at))
    .sort((a, b) => a - b);
  const usual = steps[Math.floor(steps.length / 2)] ?? 0;
  const all: Line['points'][] = [];
  points.forEach((p, i) => {
    const before = points[i - 1];
    if (!before || p.at - before.at > usual * 2.5) all.push([p]);
    else all.at(-1)?.push(p);
  });
  return all;
}

/** Measures over time, with the band between their least and greatest values. */
export function LineChart({ label, lines, from, to, unit = '', atLeast = 0, height = 132 }: Props) {
  const { ref, width } = useWidth<HTMLDivElement>(300);
  const [at, setAt] = useState<number>();
  const bottom = height - 18;
  const { top, lines: grid } = scaleOf(Math.max(atLeast, ...lines.flatMap((l) => l.points.map((p) => p.most ?? p.value))));
  const left = Math.max(34, 8 + 7 * count(top).length); // room for the longest number of the axis
  const x = (t: number) => left + ((t - from) * (width - left - 4)) / Math.max(1, to - from);
  const y = (v: number) => bottom - (v * (bottom - 8)) / top;
  const move = (e: PointerEvent<SVGSVGElement>) =>
    setAt(from + ((e.clientX - e.currentTarget.getBoundingClientRect().left - left) / Math.max(1, width - left - 4)) * (to - from));
  const nearest = (l: Line) =>
    l.points.reduce<Line['points'][number] | undefined>(
      (best, p) => (at !== undefined && (!best || Math.abs(p.at - at) < Math.abs(best.at - at)) ? p : best),
      undefined,
    );
  const shown = lines.map((l) => ({ line: l, point: at === undefined ? l.points.at(-1) : nearest(l) }));
  const tick = (t: number) => (to - from > 36 * 3_600_000 ? day(t) : clockTime(t).slice(0, 5));
  if (lines.every((l) => l.points.length === 0)) return <p className="small t3">Nothing was measured in this time.</p>;
  return (
    <div ref={ref} className="line-chart">
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`${label}: ${shown.map(({ line, point }) => `${line.label} ${Math.round(point?.value ?? 0)}${unit}`).join(', ')}`}
        onPointerMove={move}
        onPointerLeave={() => setAt(undefined)}
      >
        {grid.map((v) => (
          <g key={v}>
            <line x1={left} x2={width} y1={y(v)} y2={y(v)} className="gl" />
            <text x={left - 6} y={y(v) + 4} textAnchor="end" className="ax">
              {count(v)}
            </text>
          </g>
        ))}
        {lines.map((l, i) => (
          <g key={l.label}>
            {pieces(l.points).map((piece, k) => (
              <g key={k}>
                {lines.length === 1 && piece.some((p) => p.most !== undefined) && (
                  <path
                    className="chart-band"
                    d={`M${piece.map((p) => `${x(p.at)} ${y(p.most ?? p.value)}`).join('L')}L${[...piece]
                      .reverse()
                      .map((p) => `${x(p.at)} ${y(p.least ?? p.value)}`)
                      .join('L')}z`}
                  />
                )}
                {piece.length === 1 ? (
                  <circle className={`chart-dot c${i % 4}`} cx={x(piece[0]?.at ?? 0)} cy={y(piece[0]?.value ?? 0)} r="1.5" />
                ) : (
                  <path className={`chart-line c${i % 4}`} d={`M${piece.map((p) => `${x(p.at)} ${y(p.value)}`).join('L')}`} />
                )}
              </g>
            ))}
          </g>
        ))}
        {at !== undefined && <line x1={x(at)} x2={x(at)} y1="4" y2={bottom} className="ann" />}
        <text x={left} y={height - 4} className="ax">
          {tick(from)}
        </text>
        <text x={width} y={height - 4} textAnchor="end" className="ax">
          {axisEnd(to, tick)}
        </text>
      </svg>
      <p className="small t3 row wrap tight">
        {shown.map(({ line, point }, i) => (
          <span key={line.label} className="row tight">
            {lines.length > 1 && <span className={`chart-key c${i % 4}`} />}
            {line.label} <b>{point ? `${count(Math.round(point.value))}${unit}` : '–'}</b>
          </span>
        ))}
        {at !== undefined && <span className="end">{dateTime(at)}</span>}
      </p>
    </div>
  );
}
