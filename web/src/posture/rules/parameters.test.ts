import { expect, test } from 'vitest';
import { hintOf, textOf, valueOf, type Parameter } from './parameters';

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

test('the hint has meaning, limits and default', () => {
  const days: Parameter = {
    name: 'days',
    type: 'integer',
    default: 90,
    minimum: 1,
    maximum: 3650,
    description: 'A key may be this many days old.',
  };
  expect(hintOf(days)).toBe('A key may be this many days old. At least 1, at most 3650. Default: 90.');
});
