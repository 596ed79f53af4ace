import type { ReactNode } from 'react';

/** The shapes that go with colours: nothing is told by colour alone. */
export type MarkName =
  'critical' | 'high' | 'medium' | 'low' | 'violation' | 'pass' | 'unknown' | 'none' | 'nothing' | 'ok' | 'warn' | 'error' | 'off';

const bars = (name: string, filled: number) => (
  <>
    <rect x="1" y="8.5" width="3" height="4.5" rx=".8" className={filled > 0 ? `m-${name}` : 'm-ghost'} />
    <rect x="5.5" y="5.2" width="3" height="7.8" rx=".8" className={filled > 1 ? `m-${name}` : 'm-ghost'} />
    <rect x="10" y="2" width="3" height="11" rx=".8" className={filled > 2 ? `m-${name}` : 'm-ghost'} />
  </>
);
const disc = (name: string) => (
  <>
    <circle cx="7" cy="7" r="6" className={`m-${name}`} />
    <path d="M4.3 7.2l1.9 1.9 3.6-4" className="m-cut" />
  </>
);
const ring = (name: string, stroke: string) => (
  <>
    <circle cx="7" cy="7" r="5.3" className={`m-${name}`} strokeWidth="1.3" />
    <path d={stroke} className={`m-${name}`} strokeWidth="1.3" />
  </>
);
const square = (name: string, cut: string) => (
  <>
    <rect x="1" y="1" width="12" height="12" rx="2.5" className={`m-${name}`} />
    <path d={cut} className="m-cut" />
  </>
);

const shapes: Record<MarkName, ReactNode> = {
  critical: square('critical', 'M7 3.9v3.6M7 10v.05'),
  high: bars('high', 3),
  medium: bars('medium', 2),
  low: bars('low', 1),
  violation: <path d="M7 .8L13.2 7 7 13.2.8 7z" className="m-violation" />,
  pass: disc('pass'),
  ok: disc('ok'),
  unknown: (
    <>
      <circle cx="7" cy="7" r="5.6" className="m-unknown" strokeWidth="1.3" strokeDasharray="2.2 1.6" />
      <text x="7" y="10.2" textAnchor="middle" className="m-q">
        ?
      </text>
    </>
  ),
  none: ring('none', 'M4.4 7h5.2'),
  nothing: ring('none', 'M7 7h.01'),
  warn: (
    <>
      <path d="M7 1.2l6.3 11.3H.7z" className="m-warn" />
      <path d="M7 5.4v3M7 10.5v.05" className="m-cut" />
    </>
  ),
  error: square('error', 'M4.6 4.6l4.8 4.8M9.4 4.6L4.6 9.4'),
  off: ring('off', 'M3.6 10.4l6.8-6.8'),
};

const words: Record<MarkName, string> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  violation: 'Violation',
  pass: 'Pass',
  unknown: 'Unknown',
  none: 'No rule',
  nothing: 'Not applicable',
  ok: 'OK',
  warn: 'Warning',
  error: 'Error',
  off: 'Disabled',
};

/** A shape; `label` is read to screen readers where no word stands beside it. */
export function Mark({ name, label }: { name: MarkName; label?: boolean }) {
  return (
    <>
      <svg className="mark" viewBox="0 0 14 14" aria-hidden="true">
        {shapes[name]}
      </svg>
      {label && <span className="hide">{words[name]}</span>}
    </>
  );
}

/** A shape with its word. */
export function Word({ name, children }: { name: MarkName; children?: ReactNode }) {
  return (
    <span className={`word c-${name}`}>
      <Mark name={name} />
      {children ?? words[name]}
    </span>
  );
}

/** The mark of a finding: a risk of 90 and more is critical, whatever the level of its rule. */
export const severity = (level: string, risk = 0): MarkName =>
  risk >= 90 ? 'critical' : level === 'High' ? 'high' : level === 'Low' ? 'low' : 'medium';

const providers: Record<string, string> = { aws: 'AWS', azure: 'AZ', gcp: 'GCP' };
const providerNames: Record<string, string> = { aws: 'Amazon Web Services', azure: 'Microsoft Azure', gcp: 'Google Cloud' };

export const ProviderMark = ({ provider }: { provider: string }) => (
  <span className="provider" title={providerNames[provider]}>
    {providers[provider] ?? provider}
  </span>
);
export const providerName = (provider: string) => providerNames[provider] ?? provider;
