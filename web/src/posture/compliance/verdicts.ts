import type { ControlPosture } from '../../api/posture';

export type Verdict = 'violation' | 'unknown' | 'pass' | 'none';
export const verdicts: Verdict[] = ['violation', 'unknown', 'pass', 'none'];
export const verdictWords: Record<Verdict, string> = { violation: 'Violated', unknown: 'Unknown', pass: 'Pass', none: 'No rule' };

/** Violated if one resource violates; else unknown if one is unknown; else pass if one passes; else no rule. */
export function verdictOf(c: ControlPosture): Verdict {
  if (c.violating > 0) return 'violation';
  if (c.unknown > 0) return 'unknown';
  if (c.passing > 0) return 'pass';
  return c.ruleIds.length > 0 ? 'unknown' : 'none';
}

export const countVerdicts = (controls: ControlPosture[]) =>
  Object.fromEntries(verdicts.map((v) => [v, controls.filter((c) => verdictOf(c) === v).length])) as Record<Verdict, number>;

export interface Section {
  name: string;
  number: string;
  controls: ControlPosture[];
}

/** Controls by section, in the order of their numbers. */
export function sections(controls: ControlPosture[]): Section[] {
  const byName = new Map<string, ControlPosture[]>();
  for (const c of controls) byName.set(c.section, [...(byName.get(c.section) ?? []), c]);
  const order = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });
  return [...byName].map(([name, all]) => ({ name, number: all[0]?.controlId.split(/[.(-]/)[0] ?? '', controls: [...all].sort((a, b) => order(a.controlId, b.controlId)) })).sort((a, b) => order(a.controls[0]?.controlId ?? '', b.controls[0]?.controlId ?? ''));
}
