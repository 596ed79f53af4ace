import { expect, test, vi } from 'vitest';
import { desktop } from '../api/desktop';
import { jumpTargets } from './jump';

test('machines are found by their names with and without the domain', async () => {
  const gateway = { id: 'g1', name: 'uag1.corp.example', status: 'OK', details: { type: 'UAG' } };
  vi.spyOn(desktop, 'get').mockImplementation(((path: string) =>
    Promise.resolve(path === '/rest/monitor/gateways' ? [gateway] : [])) as unknown as typeof desktop.get);
  for (const text of ['uag1', 'UAG1.corp', 'uag1.corp.example'])
    expect(await jumpTargets(text), text).toMatchObject([{ group: 'GATEWAY', label: 'uag1', to: '/gateways/g1' }]);
  expect(await jumpTargets('uag2')).toEqual([]);
});
