import { expect, test } from 'vitest';
import type { ChangeGroup } from '../../api/desktop';
import { shownOf } from './shown';

const group = (health: string, ...changes: { to_status: string; to_health: string }[]) => ({ health, changes }) as unknown as ChangeGroup;

test('the change shown for a group has the health that its mark shows', () => {
  const worst = { to_status: 'DOWN', to_health: 'ERROR' };
  const last = { to_status: 'WARNING', to_health: 'WARNING' };
  expect(shownOf(group('ERROR', worst, last))).toBe(worst);
  expect(shownOf(group('WARNING', worst, last))).toBe(last);
});

test('the last change is shown if none has the health of the group, since the server sends only some changes', () => {
  const last = { to_status: 'OK', to_health: 'OK' };
  expect(shownOf(group('ERROR', last))).toBe(last);
  expect(shownOf(group('ERROR'))).toBeUndefined();
});
