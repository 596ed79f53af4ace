import { expect, it } from 'vitest';
import { actorName, byWhom } from './actor';

it('shortens ARNs to the names in them', () => {
  expect(actorName('arn:aws:iam::123456789012:user/team/alice')).toBe('alice');
  expect(actorName('arn:aws:sts::123456789012:assumed-role/admin/alice')).toBe('alice as admin');
  expect(actorName('arn:aws:iam::123456789012:root')).toBe('root');
  expect(actorName('operator@example.com')).toBe('operator@example.com');
});

it('names the cause where nobody is named', () => {
  expect(byWhom('event', undefined)).toBe('event');
  expect(byWhom('event', 'arn:aws:iam::123456789012:user/alice')).toBe('by alice');
});
