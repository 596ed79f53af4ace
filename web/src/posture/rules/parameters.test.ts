import { expect, test } from 'vitest';
import { hintOf, textOf, typedInto, valueOf, type Parameter } from './parameters';
import type { Draft } from './save';

test.each<[Parameter['type'], string, unknown]>([
  ['integer', ' 90 ', 90],
  ['integer', '-1', -1],
  ['integer', '1.5', undefined],
  ['integer', '', undefined],
  ['integers', '22, 3389', [22, 3389]],
  ['integers', '22, ssh', undefined],
  ['integers', '', []],
  ['strings', '123456789012 , 210987654321,', ['123456789012', '210987654321']],
])('%s %j is %j', (type, text, want) => expect(valueOf(type, text)).toEqual(want));

test('a value is shown as it is typed', () => {
  expect(textOf(90)).toBe('90');
  expect(textOf([22, 3389])).toBe('22, 3389');
});

const days: Parameter = {
  name: 'days',
  type: 'integer',
  default: 90,
  minimum: 1,
  maximum: 3650,
  description: 'A key may be this many days old.',
};

test('a parameter is unfinished while its text is not a value', () => {
  const draft = { parameterValues: { days: 90, other: 1 }, unfinished: ['other'] } as unknown as Draft;
  const shorter = { ...draft, ...typedInto(draft, days, '9') };
  expect(shorter).toEqual({ parameterValues: { days: 9, other: 1 }, unfinished: ['other'] });
  const cleared = { ...shorter, ...typedInto(shorter, days, '') };
  expect(cleared).toEqual({ parameterValues: { days: 9, other: 1 }, unfinished: ['other', 'days'] });
  expect(typedInto(cleared, days, 'x')).toEqual({ unfinished: ['other', 'days'] });
  expect(typedInto(cleared, days, '60')).toEqual({ parameterValues: { days: 60, other: 1 }, unfinished: ['other'] });
});

test('the hint has meaning, limits and default', () => {
  expect(hintOf(days)).toBe('A key may be this many days old. At least 1, at most 3650. Default: 90.');
});
