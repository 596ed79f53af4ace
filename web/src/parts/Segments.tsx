import type { ReactNode } from 'react';

export interface Segment<T extends string> {
  value: T;
  label: ReactNode;
  count?: number;
}

interface Props<T extends string> {
  label: string;
  value: T;
  options: Segment<T>[];
  onChange: (value: T) => void;
  small?: boolean;
}

/** One choice of a few, all visible. */
export function Segments<T extends string>({ label, value, options, onChange, small }: Props<T>) {
  return (
    <div className={`seg scroll ${small ? 'seg-s' : ''}`} role="group" aria-label={label}>
      {options.map((o) => (
        <button type="button" key={o.value} aria-pressed={o.value === value} onClick={() => onChange(o.value)}>
          {o.label}
          {o.count !== undefined && <span className="t3">{o.count.toLocaleString('en-GB')}</span>}
        </button>
      ))}
    </div>
  );
}

interface SelectProps<T extends string> {
  label: string;
  value: T;
  options: { value: T; label: string }[];
  onChange: (value: T) => void;
  visibleLabel?: boolean;
}

/** One choice of many: the browser's own list. */
export function Select<T extends string>({ label, value, options, onChange, visibleLabel }: SelectProps<T>) {
  return (
    <span className="row tight">
      {visibleLabel && (
        <span className="t3 small select-label" aria-hidden="true">
          {label}
        </span>
      )}
      <span className="select-box">
        <select className="select" aria-label={label} value={value} onChange={(e) => onChange(e.target.value as T)}>
          {options.map((o) => (
            <option key={o.value} value={o.value}>
              {o.label}
            </option>
          ))}
        </select>
        <svg className="i i-s" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M4 6l4 4 4-4" />
        </svg>
      </span>
    </span>
  );
}
