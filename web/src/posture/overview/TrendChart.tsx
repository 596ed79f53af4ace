import { useState, type PointerEvent } from 'react';
import { scaleOf } from '../../parts/scale';
import { count } from '../../parts/text';
import { day } from '../../parts/time';
import { jumpText, type Jump } from './jump';
import type { Series } from './useOverview';
import { useWidth } from '../../parts/useWidth';

const height = 296;
const plot = { top: 8, bottom: 212, left: 42, right: 116 };
const bars = { middle: 250, most: 26 };

function stacks(series: Series): { name: string; from: number[]; to: number[] }[] {
  const base = series.times.map(() => 0);
  return series.levels.map((level) => {
    const from = [...base];
    level.open.forEach((v, i) => (base[i] = (base[i] ?? 0) + v));
    return { name: level.name, from, to: [...base] };
  });
}

/** A stacked chart of open findings by level. The bars below show how often findings were raised and resolved. */
export function TrendChart({ series, jump }: { series: Series; jump: Jump | undefined }) {
  const { ref, width } = useWidth<HTMLDivElement>(780);
  const [at, setAt] = useState<number>();
  const n = series.times.length;
  const right = width < 520 ? 8 : plot.right;
  const x = (i: number) => plot.left + (i * (width - plot.left - right)) / Math.max(n - 1, 1);
  const parts = stacks(series);
  const open = parts.at(-1)?.to ?? [0];
  const { top, lines } = scaleOf(Math.max(...open), 4);
  const y = (v: number) => plot.bottom - (v * (plot.bottom - plot.top)) / top;
  const most = Math.max(1, ...series.raised, ...series.resolved);
  const bar = (v: number) => (v === 0 ? 0 : Math.max(1.5, (v * bars.most) / most));
  const step = n > 1 ? x(1) - x(0) : 20;
  const thick = Math.max(2, Math.min(14, step * 0.62));
  const marked = Array.from({ length: width < 520 ? 3 : 5 }, (_, i) => Math.round((i * (n - 1)) / (width < 520 ? 2 : 4)));
  const move = (e: PointerEvent<SVGSVGElement>) => {
    const px = e.clientX - e.currentTarget.getBoundingClientRect().left;
    setAt(Math.max(0, Math.min(n - 1, Math.round((px - plot.left) / step))));
  };
  const shown = at ?? n - 1;
  return (
    <div ref={ref} className="trend">
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`Open findings over time; ${open.at(-1) ?? 0} now${jump ? `; most were added on ${day(series.times[jump.at] ?? 0)}: ${jumpText(jump)}` : ''}`}
        onPointerMove={move}
        onPointerLeave={() => setAt(undefined)}
      >
        {lines.map((v) => (
          <g key={v}>
            <line x1={plot.left} x2={width - right} y1={y(v)} y2={y(v)} className="gl" />
            <text x={plot.left - 8} y={y(v) + 4} textAnchor="end" className="ax">
              {count(v)}
            </text>
          </g>
        ))}
        {parts.map((p) => (
          <g key={p.name}>
            <path
              className={`area a-${p.name}`}
              d={`M${p.to.map((v, i) => `${x(i)} ${y(v)}`).join('L')}L${p.from
                .map((v, i) => `${x(i)} ${y(v)}`)
                .reverse()
                .join('L')}z`}
            />
            <path className={`edge e-${p.name}`} d={`M${p.to.map((v, i) => `${x(i)} ${y(v)}`).join('L')}`} />
          </g>
        ))}
        <line x1={plot.left} x2={width - right} y1={bars.middle} y2={bars.middle} className="gl-strong" />
        {series.times.map((t, i) => (
          <g key={t}>
            <rect
              className="bar-new"
              x={x(i) - thick / 2}
              width={thick}
              y={bars.middle - bar(series.raised[i] ?? 0)}
              height={bar(series.raised[i] ?? 0)}
              rx="1"
            />
            <rect
              className="bar-resolved"
              x={x(i) - thick / 2}
              width={thick}
              y={bars.middle}
              height={bar(series.resolved[i] ?? 0)}
              rx="1"
            />
          </g>
        ))}
        {marked.map((i, k) => (
          <text key={k} x={x(i)} y={height - 4} className="ax" textAnchor={k === 0 ? 'start' : k === marked.length - 1 ? 'end' : 'middle'}>
            {i === n - 1 ? 'Today' : day(series.times[i] ?? 0)}
          </text>
        ))}
        {jump && at === undefined && <JumpMark jump={jump} series={series} x={x(jump.at)} y={y(open[jump.at] ?? 0)} />}
        {at !== undefined && <line x1={x(at)} x2={x(at)} y1={plot.top} y2={bars.middle + bars.most} className="ann" />}
        {right > 20 && (
          <Legend
            series={series}
            shown={shown}
            x={width - right + 14}
            y={(i) => y(((parts[i]?.from[n - 1] ?? 0) + (parts[i]?.to[n - 1] ?? 0)) / 2)}
          />
        )}
      </svg>
      <p className="trend-at small t3" aria-live="off">
        {at === undefined
          ? 'A finding counts each time it is raised or resolved.'
          : `${day(series.times[at] ?? 0)}: ${count(open[at] ?? 0)} open, ${count(series.raised[at] ?? 0)} raised, ${count(series.resolved[at] ?? 0)} resolved`}
      </p>
    </div>
  );
}

/** The mark of the largest increase, with its day and the accounts that were linked then. */
function JumpMark({ jump, series, x, y }: { jump: Jump; series: Series; x: number; y: number }) {
  const left = x > 260; // the text needs about that much
  return (
    <g className="trend-jump">
      <line x1={x} x2={x} y1={plot.top} y2={plot.bottom} className="ann" />
      <circle cx={x} cy={y} r="3" className="ann-dot" />
      <text x={left ? x - 6 : x + 6} y={plot.top + 9} textAnchor={left ? 'end' : 'start'} className="ax">
        {day(series.times[jump.at] ?? 0)}: {jumpText(jump)}
      </text>
    </g>
  );
}

function Legend({ series, shown, x, y }: { series: Series; shown: number; x: number; y: (i: number) => number }) {
  const rows = series.levels.map((l, i) => ({ name: l.name, value: l.open[shown] ?? 0, at: y(i) + 4 })).sort((a, b) => b.at - a.at);
  rows.forEach((r, i) => {
    const below = rows[i - 1];
    if (below && below.at - r.at < 15) r.at = below.at - 15;
  });
  return (
    <>
      {rows.map((r) => (
        <text key={r.name} x={x} y={r.at} className="ax">
          <tspan className="ax-strong">{count(r.value)}</tspan> {r.name.charAt(0).toUpperCase() + r.name.slice(1)}
        </text>
      ))}
      <text x={x} y={bars.middle - 8} className="ax">
        <tspan className="ax-strong">+{count(series.raised[shown] ?? 0)}</tspan> raised
      </text>
      <text x={x} y={bars.middle + 16} className="ax">
        <tspan className="ax-strong">−{count(series.resolved[shown] ?? 0)}</tspan> resolved
      </text>
    </>
  );
}
