/** One part of a bar. The class b-<name> sets its colour. */
export interface Part {
  name: string;
  value: number;
}

export function StackBar({ parts, total, tall, label }: { parts: Part[]; total?: number; tall?: boolean; label?: string }) {
  const sum = total ?? parts.reduce((all, p) => all + p.value, 0);
  return (
    <div
      className={`stackbar grow ${tall ? 'tall' : ''}`}
      role={label ? 'img' : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      {parts.map(
        (p) => p.value > 0 && <span key={p.name} className={`b-${p.name}`} style={{ width: `${(100 * p.value) / Math.max(sum, 1)}%` }} />,
      )}
    </div>
  );
}
