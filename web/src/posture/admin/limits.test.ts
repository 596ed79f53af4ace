import { expect, test } from 'vitest';
import { limitTexts, pairsOf } from './limits';

test('the tags of a limit are written as they are typed', () => {
  expect(pairsOf({ tags: { team: ['a', 'b'], env: ['dev'] } })).toEqual(['team=a', 'team=b', 'env=dev']);
  expect(pairsOf(undefined)).toEqual([]);
});

test('a limit is compared by what it allows, not by its order or its empty members', () => {
  expect(limitTexts(null)).toEqual(['All accounts']);
  expect(limitTexts(undefined)).toEqual(['All accounts']);
  expect(limitTexts({ cloudAccountIds: ['2', '1'], tags: {} })).toEqual(limitTexts({ cloudAccountIds: ['1', '2'] }));
  expect(limitTexts({ cloudAccountIds: ['1'], tags: { team: ['a'] } })).toEqual(['1', 'team=a']);
});
