import uPlot from 'uplot';
import { colours } from './colours';
import { hasBand, isolated, type Line } from './lines';
import { scaleOf } from './scale';
import { count } from './text';
import { clockTime, day } from './time';

const hour = 3_600_000;
const strokes = ['--ramp-4', '--status-ok-fill', '--status-warn-fill', '--status-unknown-fill'] as const;
const dashes = [[], [], [4, 2], [1.5, 2]];

interface Plot {
  lines: Line[];
  from: number;
  to: number;
  atLeast: number;
  width: number;
  height: number;
  utc: boolean;
  /** Is told the time under the pointer, or undefined when the pointer leaves. */
  onPoint: (at: number | undefined) => void;
}

/** Reports whether the label of a time has room: at the ends it would cover the other axis or be cut. */
function fits(plot: uPlot, time: number): boolean {
  const at = plot.valToPos(time, 'x');
  return at > 18 && at < plot.bbox.width / devicePixelRatio - 14;
}

/** How uPlot draws lines. Colours are read at each drawing, so that redraw() follows the theme. */
export function options({ lines, from, to, atLeast, width, height, utc, onPoint }: Plot): uPlot.Options {
  const { top, lines: grid } = scaleOf(Math.max(atLeast, ...lines.flatMap((l) => l.points.map((p) => p.most ?? p.value))));
  const colour = (token: string) => () => colours({ it: token }).it;
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const days = to - from > 36 * hour;
  const line = (stroke: string, dash: number[]): uPlot.Series => ({
    stroke: colour(stroke),
    width: 1.5,
    dash,
    points: { size: 3, fill: colour(stroke), filter: (plot, series) => isolated([...(plot.data[series] ?? [])]) },
  });
  const edge: uPlot.Series = { width: 0, points: { show: false } };
  const band = hasBand(lines);
  return {
    width,
    height,
    ms: 1,
    tzDate: (at) => (utc ? uPlot.tzDate(new Date(at), 'Etc/UTC') : new Date(at)),
    legend: { show: false },
    padding: [8, 4, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: { range: [from, to] }, y: { range: [0, top] } },
    series: [{}, ...lines.map((_, i) => line(strokes[i % 4] ?? strokes[0], dashes[i % 4] ?? [])), ...(band ? [edge, edge] : [])],
    bands: band ? [{ series: [2, 3], fill: () => colours({ it: '--ramp-4' }).it.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.18)') }] : [],
    axes: [
      {
        stroke: colour('--text-3'),
        font,
        size: 18,
        gap: 4,
        grid: { show: false },
        ticks: { show: false },
        incrs: days ? [1, 2, 5, 10].map((d) => d * 24 * hour) : [1 / 12, 0.25, 0.5, 1, 2, 3, 6, 12].map((h) => h * hour),
        values: (plot, times) => times.map((t) => (fits(plot, t) ? (days ? day(t) : clockTime(t).slice(0, 5)) : '')),
      },
      {
        stroke: colour('--text-3'),
        font,
        size: Math.max(34, 8 + 7 * count(top).length), // room for the longest number
        gap: 6,
        grid: { stroke: colour('--grid'), width: 1 },
        ticks: { show: false },
        splits: grid,
        values: (_, values) => values.map((v) => count(v)),
      },
    ],
    hooks: {
      setCursor: [({ cursor, posToVal }) => onPoint(cursor.left === undefined || cursor.left < 0 ? undefined : posToVal(cursor.left, 'x'))],
    },
  };
}
