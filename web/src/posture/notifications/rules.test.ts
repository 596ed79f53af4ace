import { expect, test } from 'vitest';
import type { NotificationRule } from '../../api/posture';
import { choices, draftOfRule, eventNames, levelNames, problemsOf, specOfRule } from './rules';

const rule: NotificationRule = {
  id: 'r',
  name: 'all',
  enabled: true,
  events: [],
  levels: [],
  minRiskScore: 0,
  ruleIds: [],
  cloudAccountIds: [],
  cloudTags: {},
  channelIds: ['c'],
  eTag: 'e',
  lastUpdateTime: '2026-01-01T00:00:00Z',
};
const names = { rule: (id: string) => `rule ${id}`, account: (id: string) => `account ${id}` };

test('an empty list of the API ticks all choices in the form, and ticking all choices sends an empty list', () => {
  const draft = draftOfRule(rule);
  expect(draft.events).toEqual(eventNames);
  expect(draft.levels).toEqual(levelNames);
  expect(specOfRule(draft)).toMatchObject({ events: [], levels: [], minRiskScore: 0 });
  expect(specOfRule({ ...draft, levels: ['Low', 'High'] }).levels).toEqual(['High', 'Low']);
});

test('a rule survives the form unchanged', () => {
  const full = {
    ...rule,
    events: ['FindingRaised' as const],
    levels: ['High' as const],
    minRiskScore: 70,
    ruleIds: ['x'],
    cloudAccountIds: ['1'],
    cloudTags: { env: ['prod', 'a=b'] },
  };
  const { id: _id, eTag: _eTag, lastUpdateTime: _time, ...spec } = full;
  expect(specOfRule(draftOfRule(full))).toEqual(spec);
});

test('events of accounts have no level, risk or rule', () => {
  const spec = specOfRule({
    ...draftOfRule(rule),
    events: ['StreamSilent'],
    levels: ['High'],
    minRisk: '70',
    rules: ['x'],
    accounts: ['1'],
  });
  expect(spec).toMatchObject({ events: ['StreamSilent'], levels: [], minRiskScore: 0, ruleIds: [], cloudAccountIds: ['1'] });
});

test('a rule without event, level or channel is refused', () => {
  expect(problemsOf(draftOfRule(rule))).toEqual({});
  expect(Object.keys(problemsOf({ ...draftOfRule(rule), levels: [], channels: [] }))).toEqual(['levels', 'channels']);
  expect(Object.keys(problemsOf({ ...draftOfRule(rule), events: [], levels: [] }))).toEqual(['events']);
});

test('only filters that select something are shown', () => {
  expect(choices(rule, names)).toEqual([]);
  expect(choices({ ...rule, events: ['FindingRaised'], minRiskScore: 70, ruleIds: ['x'], cloudTags: { env: ['prod'] } }, names)).toEqual([
    { label: 'event', values: ['raised'] },
    { label: 'risk', values: ['70 and more'] },
    { label: 'rule', values: ['rule x'] },
    { label: 'tag', values: ['env=prod'] },
  ]);
});
