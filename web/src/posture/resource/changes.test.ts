import { expect, test } from 'vitest';
import { differences, differencesBetween, extent, isFirstRead } from './changes';

const day = (n: number) => `2026-11-0${n}T00:00:00Z`;
const log = [
  { lastUpdateTime: day(1), propertyChanges: { size: { changeType: 'ADD' as const, newValue: 1 } } },
  {
    lastUpdateTime: day(2),
    propertyChanges: { size: { changeType: 'UPDATE' as const, oldValue: 1, newValue: 2 } },
    tagChanges: { Owner: { changeType: 'UPDATE' as const, oldValue: 'web', newValue: 'data' } },
    edgeChanges: [
      { changeType: 'ADD' as const, label: 'MEMBER_OF', to: 'AWS.EC2.1.r.SecurityGroup.sg-1' },
      { changeType: 'ADD' as const, label: 'MEMBER_OF', to: 'AWS.EC2.1.r.SecurityGroup.sg-2' },
    ],
  },
  {
    lastUpdateTime: day(3),
    propertyChanges: { size: { changeType: 'UPDATE' as const, oldValue: 2, newValue: 3 } },
    tagChanges: { Owner: { changeType: 'UPDATE' as const, oldValue: 'data', newValue: 'web' } },
    edgeChanges: [{ changeType: 'DELETE' as const, label: 'MEMBER_OF', to: 'AWS.EC2.1.r.SecurityGroup.sg-2' }],
  },
];

test('each difference of a change is one line', () => {
  expect(differences(log[1] as never)).toEqual([
    { name: 'size', before: '1', after: '2' },
    { name: 'tag Owner', before: 'web', after: 'data' },
    { name: 'MEMBER_OF', after: 'sg-1' },
    { name: 'MEMBER_OF', after: 'sg-2' },
  ]);
});

test('two changes are compared: what changed back is no difference', () => {
  expect(differencesBetween(log as never, day(1), day(3))).toEqual([
    { name: 'MEMBER_OF', after: 'sg-1' },
    { name: 'size', before: '1', after: '3' },
  ]);
  expect(differencesBetween(log as never, day(3), day(3))).toEqual([]);
});

const sg = { label: 'ALLOWS', to: 'AWS.EC2.1.r.SecurityGroup.sg-3' };
const edges = (n: number, ...changeTypes: ('ADD' | 'DELETE')[]) => ({
  lastUpdateTime: day(n),
  edgeChanges: changeTypes.map((changeType) => ({ changeType, ...sg })),
});

test('an edge that is deleted and added by one change has other properties', () => {
  const changed = edges(3, 'DELETE', 'ADD');
  const line = { name: 'ALLOWS', before: 'sg-3', after: 'sg-3, other properties' };
  expect(differences(changed as never)).toEqual([line]);
  expect(extent(changed as never)).toBe('1 edge');
  expect(differencesBetween([changed] as never, day(1), day(3))).toEqual([line]);
  expect(differencesBetween([changed, edges(4, 'DELETE'), edges(5, 'ADD')] as never, day(1), day(5))).toEqual([line]);
  expect(differencesBetween([edges(2, 'ADD'), changed] as never, day(1), day(3))).toEqual([{ name: 'ALLOWS', after: 'sg-3' }]);
  expect(differencesBetween([changed, edges(4, 'DELETE')] as never, day(1), day(4))).toEqual([{ name: 'ALLOWS', before: 'sg-3' }]);
});

test('a change says how many properties, tags and edges it set', () => {
  expect(log.map((entry) => extent(entry as never))).toEqual(['1 property', '1 property, 1 tag, 2 edges', '1 property, 1 tag, 1 edge']);
});

test('only the oldest entry of the whole log is the first read, if it adds many values', () => {
  const adds = (n: number, count: number) => ({
    lastUpdateTime: day(n),
    propertyChanges: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { changeType: 'ADD' as const, newValue: i }])),
  });
  const newestFirst = [adds(3, 5), adds(2, 5), adds(1, 5)] as never[];
  expect([0, 1, 2].map((i) => isFirstRead(newestFirst, i))).toEqual([false, false, true]);
  expect(isFirstRead([adds(1, 3)] as never[], 0)).toBe(false);
  expect(isFirstRead([log[1]] as never[], 0)).toBe(false);
  expect(isFirstRead([], 0)).toBe(false);
});
