import type { AlertRule } from '../../api/desktop';
import { plural, words } from '../../parts/text';
import { spanInWords } from '../../parts/time';
import { kindPhrase } from '../components';

const thing = ({ kind, component_id }: AlertRule['condition']) =>
  !kind ? 'any component' : component_id ? kindPhrase(kind).replace(/^an? /, 'one ') : kindPhrase(kind);

/** "a, b or c" */
const either = (all: string[]) => (all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`);

/** What a condition has at first when its type is chosen. */
const defaults: Record<AlertRule['condition']['type'], Partial<AlertRule['condition']>> = {
  STATUS: {},
  CERTIFICATE: { days: 30 },
  COUNT: { measure: 'session_count', operator: 'ABOVE', value: 0 },
};

/** A condition changed to a type, with the type's defaults where it has no values of its own. */
export const withType = (c: AlertRule['condition'], type: AlertRule['condition']['type']): AlertRule['condition'] => ({
  ...defaults[type],
  ...c,
  type,
});

/** The condition of a rule as a sentence. */
export function conditionText({ condition: c, for_seconds }: Pick<AlertRule, 'condition' | 'for_seconds'>): string {
  const lasts = for_seconds ? ` for ${spanInWords(for_seconds * 1000)}` : '';
  if (c.type === 'CERTIFICATE') return `a certificate of ${thing(c)} ends within ${plural(c.days ?? 0, 'day')}${lasts}`;
  if (c.type === 'STATUS') return `the status of ${thing(c)} is ${either((c.statuses ?? []).map(words))}${lasts}`;
  return `${words(c.measure ?? '')} of ${thing(c)} is ${words(c.operator ?? '')} ${c.value ?? 0}${lasts}`;
}
