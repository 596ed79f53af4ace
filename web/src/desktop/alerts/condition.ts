import type { AlertRule } from '../../api/desktop';
import { words } from '../../parts/text';

const thing = (kind: string | undefined) => (kind ? `a ${words(kind)}` : 'any component');

/** "a, b or c" */
const either = (all: string[]) => (all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`);

/** The condition of a rule as a sentence. */
export function conditionText({ condition: c, for_seconds }: Pick<AlertRule, 'condition' | 'for_seconds'>): string {
  const lasts = for_seconds ? ` for ${for_seconds} s` : '';
  if (c.type === 'CERTIFICATE') return `a certificate of ${thing(c.kind)} ends within ${c.days ?? 0} days${lasts}`;
  if (c.type === 'STATUS') return `${thing(c.kind)} is ${either((c.statuses ?? []).map(words))}${lasts}`;
  return `${words(c.measure ?? '')} of ${thing(c.kind)} is ${words(c.operator ?? '')} ${c.value ?? 0}${lasts}`;
}
