import type { ControlPosture } from '../../api/posture';
import { joined, type Search } from '../../frame/address';

export type Verdict = 'violation' | 'unknown' | 'pass' | 'nothing' | 'none';
export const verdicts: Verdict[] = ['violation', 'unknown', 'pass', 'nothing', 'none'];
export const verdictWords: Record<Verdict, string> = {
  violation: 'Violated',
  unknown: 'Unknown',
  pass: 'Pass',
  nothing: 'No resource',
  none: 'No rule',
};

type Counts = Pick<ControlPosture, 'violating' | 'unknown' | 'notListed' | 'passing' | 'ruleIds' | 'assessed'>;

const assessedAs = { Pass: 'pass', Violation: 'violation', NotApplicable: 'nothing' } as const;

/**
 * The verdict of a control, as the server counts it: violated if a resource violates it; else unknown if a resource is unknown
 * or resources could not be listed; else pass if a resource passes. If its rules apply to no resource, the verdict is "nothing".
 * A control without a rule has the verdict of the person who assessed it, and is "none" without one.
 */
export function verdictOf(c: Counts): Verdict {
  if (c.violating > 0) return 'violation';
  if (c.unknown > 0 || c.notListed > 0) return 'unknown';
  if (c.passing > 0) return 'pass';
  if (c.assessed?.inForce) return assessedAs[c.assessed.verdict];
  return c.ruleIds.length > 0 ? 'nothing' : 'none';
}

export const countVerdicts = (controls: ControlPosture[]) =>
  Object.fromEntries(verdicts.map((v) => [v, controls.filter((c) => verdictOf(c) === v).length])) as Record<Verdict, number>;

/** How many controls have only rules that were mapped to them by category and that no published mapping confirms. */
export const countUnconfirmed = (controls: ControlPosture[], unconfirmed: (rule: string) => string[] | undefined) =>
  controls.filter((c) => c.ruleIds.length > 0 && c.ruleIds.every((rule) => unconfirmed(rule)?.includes(c.id))).length;

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
  return [...byName]
    .map(([name, all]) => ({
      name,
      number: all[0]?.controlId.split(/[.(-]/)[0] ?? '',
      controls: [...all].sort((a, b) => order(a.controlId, b.controlId)),
    }))
    .sort((a, b) => order(a.controls[0]?.controlId ?? '', b.controls[0]?.controlId ?? ''));
}

/** The search parameters that list the findings of controls. The numbers of custom controls can contain commas, which `joined` escapes. */
export const findingsOf = (controls: { id: string }[], account: string | undefined): Search => ({
  control: joined(controls.map((c) => c.id)),
  account,
});
