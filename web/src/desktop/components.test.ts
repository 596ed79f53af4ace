import { expect, test } from 'vitest';
import { byStatus } from './components';
import type { Status } from './status';

const farm = (name: string, status: Status) => ({ name, status });

test('an error comes before warnings, and names are in numeric order', () => {
  const farms = [farm('farm10', 'warn'), farm('farm2', 'warn'), farm('a', 'ok'), farm('z', 'error')];
  expect([...farms].sort(byStatus).map((f) => f.name)).toEqual(['z', 'farm2', 'farm10', 'a']);
});
