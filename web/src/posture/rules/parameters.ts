import type { RuleParameter } from '../../api/posture';

export type Parameter = RuleParameter;

/** A value as its field shows it: lists are separated by commas. */
export const textOf = (value: unknown) => (Array.isArray(value) ? value.join(', ') : String(value ?? ''));

/** The value of a field's text, or undefined when the text is not of the parameter's type. */
export function valueOf(type: Parameter['type'], text: string): unknown {
  const whole = (word: string) => (/^-?\d{1,15}$/.test(word) ? Number(word) : undefined);
  if (type === 'integer') return whole(text.trim());
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (type === 'strings') return words;
  const numbers = words.map(whole);
  return numbers.includes(undefined) ? undefined : numbers;
}

/** What the field says below it: what the parameter means, its limits and its default. */
export function hintOf(p: Parameter): string {
  const limits = [p.minimum != null && `at least ${p.minimum}`, p.maximum != null && `at most ${p.maximum}`].filter(Boolean).join(', ');
  const list = p.type === 'integer' ? '' : ' Separate several by commas.';
  return `${p.description}${list}${limits ? ` ${limits[0]?.toUpperCase()}${limits.slice(1)}.` : ''} Default: ${textOf(p.default) || 'none'}.`;
}
