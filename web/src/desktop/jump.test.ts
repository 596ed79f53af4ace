import { expect, test, vi } from 'vitest';
import { desktop } from '../api/desktop';
import { jumpTargets } from './jump';

test('machines are found by their names with and without the domain', async () => {
  const gateway = { id: 'g1', name: 'uag1.corp.example', status: 'OK', details: { type: 'UAG' } };
  vi.spyOn(desktop, 'get').mockImplementation(((path: string) =>
    Promise.resolve(path === '/rest/monitor/gateways' ? [gateway] : [])) as unknown as typeof desktop.get);
  for (const text of ['uag1', 'UAG1.corp', 'uag1.corp.example'])
    expect(await jumpTargets(text), text).toMatchObject({
      targets: [{ group: 'GATEWAY', label: 'uag1', to: '/gateways/g1' }],
      more: false,
    });
  expect(await jumpTargets('uag2')).toEqual({ targets: [], more: false });
});

test('more is true if the limit of a kind leaves out targets', async () => {
  const gateways = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ id: `g${i}`, name: `uag${i}`, status: 'OK', details: { type: 'UAG' } }));
  let served = gateways(8);
  vi.spyOn(desktop, 'get').mockImplementation(((path: string) =>
    Promise.resolve(path === '/rest/monitor/gateways' ? served : [])) as unknown as typeof desktop.get);
  expect((await jumpTargets('uag')).more).toBe(false);
  served = gateways(9);
  const found = await jumpTargets('uag');
  expect(found.targets).toHaveLength(8);
  expect(found.more).toBe(true);
});
