import { expect, test } from 'vitest';
import type { Overview } from '../../api/desktop';
import { problemsOf } from './problems';

type Given = Overview['problems'][number];
const component = (kind: string, id: string, ...reasons: string[]) =>
  ({ kind, id, name: id, status: 'ERROR', health: 'ERROR', reasons }) as Given['components'][number];
const problem = (cause: Given['components'][number], ...parts: Given['components']) =>
  ({ cause, health: 'ERROR', reasons: cause.reasons, count: 1 + parts.length, components: [cause, ...parts] }) as unknown as Given;
const reason = (p: Given) => problemsOf([p])[0]?.reason;

test('a farm says what its servers have in common', () => {
  const farm = component('FARM', 'farm-01', 'errors on 2 of 2 enabled servers');
  const noDomain = (id: string) => component('RDS_SERVER', id, 'the domain cannot be reached');
  expect(reason(problem(farm, noDomain('a'), noDomain('b')))).toBe('Errors on 2 of 2 enabled servers: the domain cannot be reached');
  expect(reason(problem(farm, noDomain('a'), component('RDS_SERVER', 'b', 'it needs to restart')))).toBe(
    'Errors on 2 of 2 enabled servers',
  );
});

test('a reason is not said twice, and a component without one says its status', () => {
  const gateway = component('GATEWAY', 'gw1', 'a back end is unreachable');
  expect(reason(problem(gateway, component('GATEWAY', 'gw2', 'a back end is unreachable')))).toBe('A back end is unreachable');
  expect(reason(problem(component('GATEWAY', 'gw1')))).toBe('Error');
});
