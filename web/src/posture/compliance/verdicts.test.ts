import { expect, test } from 'vitest';
import type { ControlPosture } from '../../api/posture';
import { filtersOf } from '../findings/filters';
import { countUnconfirmed, findingsOf, verdictOf } from './verdicts';

const control = { violating: 0, unknown: 0, notListed: 0, passing: 0, ruleIds: ['r'] };

test('a violation outweighs an unknown resource, which outweighs a passing one', () => {
  expect(verdictOf({ ...control, violating: 1, unknown: 1, passing: 1 })).toBe('violation');
  expect(verdictOf({ ...control, unknown: 1, passing: 1 })).toBe('unknown');
  expect(verdictOf({ ...control, passing: 1 })).toBe('pass');
});

test('resources that could not be listed leave a control unknown, though others pass', () => {
  expect(verdictOf({ ...control, passing: 5, notListed: 1 })).toBe('unknown');
});

test('a control whose rules apply to no resource has the verdict nothing, and one without a rule the verdict none', () => {
  expect(verdictOf(control)).toBe('nothing');
  expect(verdictOf({ ...control, ruleIds: [] })).toBe('none');
});

test('a control is confirmed if one of the mappings of rules to it is confirmed', () => {
  const mapped = (id: string, ...ruleIds: string[]) => ({ ...control, id, ruleIds }) as unknown as ControlPosture;
  const unconfirmed: Record<string, string[]> = { r: ['c1', 'c2'], s: ['c1'] };
  const controls = [mapped('c1', 'r', 's'), mapped('c2', 'r', 's'), mapped('c3')];
  expect(countUnconfirmed(controls, (rule) => unconfirmed[rule])).toBe(1);
});

test('the findings of a control are found by its id, also if it has a comma', () => {
  expect(filtersOf(findingsOf([{ id: 'own_1,2' }], undefined)).complianceControlIds).toEqual(['own_1,2']);
  expect(filtersOf(findingsOf([{ id: 'own_1,2' }, { id: 'own_3' }], '1'))).toMatchObject({
    complianceControlIds: ['own_1,2', 'own_3'],
    cloudAccountIds: ['1'],
  });
});
