import type { RuleParameter } from '../../api/posture';
import type { Draft } from './save';

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

/** The change of a draft when a text is typed into the field of a parameter. If the text is not a value, the last value stays. */
export function typedInto(draft: Draft, p: Parameter, text: string): Pick<Draft, 'parameterValues' | 'unfinished'> {
  const unfinished = (draft.unfinished ?? []).filter((name) => name !== p.name);
  const value = valueOf(p.type, text);
  if (value === undefined) return { unfinished: [...unfinished, p.name] };
  return { parameterValues: { ...draft.parameterValues, [p.name]: value }, unfinished };
}

/** What the field says below it: what the parameter means, its limits and its default. */
export function hintOf(p: Parameter): string {
  const limits = [p.minimum != null && `at least ${p.minimum}`, p.maximum != null && `at most ${p.maximum}`].filter(Boolean).join(', ');
  const list = p.type === 'integer' ? '' : ' Separate several by commas.';
  return `${p.description}${list}${limits ? ` ${limits[0]?.toUpperCase()}${limits.slice(1)}.` : ''} Default: ${textOf(p.default) || 'none'}.`;
}
