import type { AlertRule } from '../../api/desktop';
import { plural, words } from '../../parts/text';
import { spanInWords } from '../../parts/time';
import { kindPhrase } from '../components';

/** What a condition is about: "any component", "a farm", or "one farm" if it names the farm. */
function subject({ kind, component_id }: AlertRule['condition']): string {
  if (!kind) return 'any component';
  return component_id ? kindPhrase(kind).replace(/^an? /, 'one ') : kindPhrase(kind);
}

/** "a, b or c" */
const joinedByOr = (all: string[]) => (all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`);

/** The default values of the members that belong to a type. */
const defaults: Record<AlertRule['condition']['type'], Partial<AlertRule['condition']>> = {
  STATUS: {},
  CERTIFICATE: { days: 30 },
  COUNT: { measure: 'session_count', operator: 'ABOVE', value: 0 },
};

/** Returns the condition with another type. Its values stay. A member that the new type needs and that has no value gets its default. */
export const withType = (c: AlertRule['condition'], type: AlertRule['condition']['type']): AlertRule['condition'] => ({
  ...defaults[type],
  ...c,
  type,
});

/** The condition of a rule as a sentence. */
export function conditionText({ condition: c, for_seconds }: Pick<AlertRule, 'condition' | 'for_seconds'>): string {
  const lasts = for_seconds ? ` for ${spanInWords(for_seconds * 1000)}` : '';
  if (c.type === 'CERTIFICATE') return `a certificate of ${subject(c)} expires within ${plural(c.days ?? 0, 'day')}${lasts}`;
  if (c.type === 'STATUS') return `the status of ${subject(c)} is ${joinedByOr((c.statuses ?? []).map(words))}${lasts}`;
  return `${words(c.measure ?? '')} of ${subject(c)} is ${words(c.operator ?? '')} ${c.value ?? 0}${lasts}`;
}
