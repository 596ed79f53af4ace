import { expect, it } from 'vitest';
import { actorName, causeText } from './actor';

it('shortens ARNs to the names in them', () => {
  expect(actorName('arn:aws:iam::123456789012:user/team/alice')).toBe('alice');
  expect(actorName('arn:aws:sts::123456789012:assumed-role/admin/alice')).toBe('alice as admin');
  expect(actorName('arn:aws:iam::123456789012:root')).toBe('root');
  expect(actorName('operator@example.com')).toBe('operator@example.com');
});

it('adds the actor and the operation to the cause', () => {
  const actor = 'arn:aws:iam::123456789012:user/alice';
  expect(causeText('event', {})).toBe('event');
  expect(causeText('event', { actor })).toBe('event by alice');
  expect(causeText('event', { operation: 'RunInstances' })).toBe('event, RunInstances');
  expect(causeText('event', { actor, operation: 'RunInstances' })).toBe('event, RunInstances by alice');
});
