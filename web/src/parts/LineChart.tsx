import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { onThemeChange } from './colours';
import { columns, type Line } from './lines';
import { options } from './plot';
import { count } from './text';
import { dateTime, useUTC } from './time';
import { useWidth } from './useWidth';

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

/** The point of a line that is nearest to a time, or its last one. */
const pointAt = ({ points }: Line, at: number | undefined) =>
  at === undefined ? points.at(-1) : points.reduce((best, p) => (Math.abs(p.at - at) < Math.abs(best.at - at) ? p : best));

/** Measures over time, with the band between their least and greatest values. */
export function LineChart({ label, lines, from, to, unit = '', atLeast = 0, height = 132 }: Props) {
  const { ref: box, width } = useWidth<HTMLDivElement>(300);
  const canvas = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<number>();
  const utc = useUTC();
  const drawn = lines.filter((l) => l.points.length > 0);
  useEffect(() => {
    if (!canvas.current) return;
    const plot = new uPlot(options({ lines, from, to, atLeast, width, height, utc, onPoint: setAt }), columns(lines), canvas.current);
    const ignoreTheme = onThemeChange(() => plot.redraw());
    return () => {
      ignoreTheme();
      plot.destroy();
    };
  }, [lines, from, to, atLeast, width, height, utc]);
  if (drawn.length === 0) return <p className="small t3">Nothing was measured in this time.</p>;
  const shown = drawn.map((line) => ({ line, point: pointAt(line, at) }));
  return (
    <div ref={box} className="line-chart">
      <div
        ref={canvas}
        role="img"
        aria-label={`${label}: ${shown.map(({ line, point }) => `${line.label} ${Math.round(point?.value ?? 0)}${unit}`).join(', ')}`}
      />
      <p className="small t3 row wrap tight">
        {shown.map(({ line, point }) => (
          <span key={line.label} className="row tight">
            {lines.length > 1 && <span className={`chart-key c${lines.indexOf(line) % 4}`} />}
            {line.label} <b>{point ? `${count(Math.round(point.value))}${unit}` : '–'}</b>
          </span>
        ))}
        {at !== undefined && <span className="end">{dateTime(at)}</span>}
      </p>
    </div>
  );
}
