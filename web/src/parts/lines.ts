import uPlot from 'uplot';

export interface Line {
  label: string;
  points: { at: number; value: number; least?: number; most?: number }[];
}

/** The points of a line, with null between two of them that are much further apart than usual: nothing was measured there. */
function withGaps(points: Line['points']): { at: number; point: Line['points'][number] | null }[] {
  const distance = (i: number) => (points[i]?.at ?? 0) - (points[i - 1]?.at ?? 0);
  const distances = points
    .slice(1)
    .map((_, i) => distance(i + 1))
    .sort((a, b) => a - b);
  const usual = distances[Math.floor(distances.length / 2)] ?? 0;
  return points.flatMap((point, i) => {
    const own = { at: point.at, point };
    return i > 0 && distance(i) > usual * 2.5 ? [{ at: point.at - distance(i) / 2, point: null }, own] : [own];
  });
}

/** With one line, the band between its least and greatest values is drawn too. */
export const hasBand = (lines: Line[]) => lines.length === 1 && !!lines[0]?.points.some((p) => p.most !== undefined);

/**
 * The columns that uPlot draws: the times, and for each line its values; with a band also the greatest and the least values. A line has
 * a gap at null. At undefined it has none: that is a time at which only other lines have a value.
 */
export function columns(lines: Line[]): uPlot.AlignedData {
  const band = hasBand(lines);
  return uPlot.join(
    lines.map((line) => {
      const points = withGaps(line.points);
      const of = (value: (p: Line['points'][number]) => number) => points.map(({ point }) => point && value(point));
      const values = of((p) => p.value);
      return [points.map((p) => p.at), values, ...(band ? [of((p) => p.most ?? p.value), of((p) => p.least ?? p.value)] : [])];
    }),
  );
}

/** The positions of values with a gap on both sides: no line leads to them, so they are drawn as points. */
export function isolated(values: (number | null | undefined)[]): number[] {
  const defined = values.map((value, at) => ({ value, at })).filter(({ value }) => value !== undefined);
  return defined
    .filter(({ value }, i) => value !== null && defined[i - 1]?.value == null && defined[i + 1]?.value == null)
    .map(({ at }) => at);
}
