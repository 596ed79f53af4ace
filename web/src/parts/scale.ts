/** The top of an axis, a round number not below the largest value, and the values of its grid lines. */
export function scaleOf(most: number, parts = 3): { top: number; lines: number[] } {
  const rough = Math.max(most, parts) / parts;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => s >= rough) ?? rough);
  const top = Math.ceil(Math.max(most, 1) / step) * step;
  return { top, lines: Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step) };
}
