import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Mark, type MarkName } from '../../parts/marks';
import { count } from '../../parts/text';

export interface Figure {
  label: string;
  mark?: MarkName;
  value: number | undefined;
  detail: ReactNode;
  /** Explains the detail. */
  title?: string | undefined;
  to: string;
  search?: Record<string, string | undefined>;
}

/** Figures in a row. Each is a link to what it counts. */
export function Ledger({ figures }: { figures: Figure[] }) {
  return (
    <div className="ledger">
      {figures.map((f) => (
        <Link key={f.label} to={f.to} search={(f.search ?? {}) as never} title={f.title}>
          <span className="label row tight">
            {f.mark && <Mark name={f.mark} />}
            {f.label}
          </span>
          <span className="figure">{f.value === undefined ? '–' : count(f.value)}</span>
          <span className="small t3">{f.detail}</span>
        </Link>
      ))}
    </div>
  );
}
