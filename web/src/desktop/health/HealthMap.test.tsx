import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import type { Component, Components } from '../components';
import type { Status } from '../status';
import { HealthMap } from './HealthMap';
import { ServerTiles } from './ServerTiles';

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null })); // parts/time reads its setting when it is imported
vi.mock('@tanstack/react-router', () => ({ Link: ({ children }: { children: ReactNode }) => children }));
vi.mock('@tanstack/react-query', async (original) => ({ ...(await original<object>()), useQuery: () => ({ data: [] }) }));

const component = (name: string, status: Status) => ({ kind: 'COMPOSER', id: name, name, status, reasons: [] }) as unknown as Component;

/** The statuses of the five stages of a map in which every list was read. */
function stageStatuses(found: Partial<Components>): (string | undefined)[] {
  const read = { data: [] };
  const names = ['gateways', 'servers', 'domains', 'farms', 'centers', 'pods', 'saml', 'sso', 'composers', 'database'];
  const lists = Object.fromEntries(names.map((name) => [name, read]));
  const none = Object.fromEntries(names.map((name) => [name, []]));
  const text = renderToStaticMarkup(<HealthMap c={{ ...none, lists, ...found } as unknown as Components} />);
  return [...text.matchAll(/stage-node (\w+)/g)].map(([, status]) => status);
}

test('composers count in the status of the stage of virtual centers; pods and the event database do not', () => {
  const centers = [component('vc1', 'ok')];
  expect(stageStatuses({ centers, composers: [component('composer1', 'ok')] }).at(-1)).toBe('ok');
  expect(stageStatuses({ centers, composers: [component('composer1', 'error')] }).at(-1)).toBe('error');
  expect(stageStatuses({ centers, pods: [component('pod1', 'error')], database: [component('events', 'error')] }).at(-1)).toBe('ok');
});

test('the legend of the server tiles names the unknown ones', () => {
  const legend = renderToStaticMarkup(<ServerTiles servers={[]} farms={[]} />);
  expect(legend).toMatch(/b-unknown"><\/span>\s*unknown/);
});
