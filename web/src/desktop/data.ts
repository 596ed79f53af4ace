import { useSyncExternalStore } from 'react';
import { queryOptions } from '@tanstack/react-query';
import { desktop } from '../api/desktop';
import { setPulse } from '../frame/pulse';

/** How often a list is requested while the page is visible, in milliseconds. */
const every = 15_000;

/** After something was broken or mended in the demo, lists are asked for more often until its effect has shown. */
const soon = 3_000;
let watchUntil = 0;
export function watchClosely(): void {
  watchUntil = Date.now() + 60_000;
}
/** The interval of the requests at present, in milliseconds. */
const pause = () => (Date.now() < watchUntil ? soon : every);

// Whether the user has stopped the requests.
let paused = false;
const secondsBetween = () => (paused ? 0 : pause() / 1000);
const onPause = new Set<() => void>();
export function setPaused(on: boolean): void {
  paused = on;
  setPulse({ every: secondsBetween() });
  onPause.forEach((listener) => listener());
}
export const usePaused = () =>
  useSyncExternalStore(
    (listener) => (onPause.add(listener), () => onPause.delete(listener)),
    () => paused,
  );

function list<T>(name: string, ask: () => Promise<T>) {
  return queryOptions({
    queryKey: ['desktop', name],
    queryFn: async () => {
      const answer = await ask();
      setPulse({ lookedAt: Date.now(), every: secondsBetween() });
      return answer;
    },
    refetchInterval: () => (paused ? false : pause()),
    staleTime: 5_000,
  });
}

/** Sends an ETag: the server answers 304 if the list has not changed. */
const same = { conditional: true };

export const overviewQuery = list('overview', () => desktop.get('/rest/monitor/overview', same));
export const gatewaysQuery = list('gateways', () => desktop.get('/rest/monitor/gateways', same));
export const connectionServersQuery = list('connection-servers', () => desktop.get('/rest/monitor/connection-servers', same));
export const domainsQuery = list('domains', () => desktop.get('/rest/monitor/ad-domains', same));
export const farmsQuery = list('farms', () => desktop.get('/rest/monitor/farms', same));
export const rdsQuery = list('rds-servers', () => desktop.get('/rest/monitor/rds-servers', same));
export const centersQuery = list('virtual-centers', () => desktop.get('/rest/monitor/virtual-centers', same));
export const podsQuery = list('pods', () => desktop.get('/rest/monitor/v1/pods', same));
export const samlQuery = list('saml', () => desktop.get('/rest/monitor/saml-authenticators', same));
export const ssoQuery = list('true-sso', () => desktop.get('/rest/monitor/v1/true-sso', same));
export const composersQuery = list('composers', () => desktop.get('/rest/monitor/desktop-composers', same));
export const eventDatabaseQuery = list('event-database', () => desktop.get('/rest/monitor/event-database', same));
export const alertGroupsQuery = list('alert-groups', () => desktop.get('/rest/monitor/alert-groups'));
export const agentsQuery = list('agents', () => desktop.get('/rest/config/v1/agents'));
export const accountsQuery = list('domain-accounts', () => desktop.get('/rest/config/v1/ic-domain-accounts'));
export const adDomainsQuery = list('ad-domains', () => desktop.get('/rest/external/v1/ad-domains'));
export const alertRulesQuery = list('alert-rules', () => desktop.get('/rest/config/v1/alert-rules'));
export const incidentsQuery = list('incidents', () => desktop.get('/rest/demo/incidents'));

/** What a history is asked for. */
export interface ChangeFilter {
  kind?: string;
  id?: string;
  q?: string;
  status?: string;
  since?: number;
  until?: number;
  limit?: number;
}

/** The newest changes, of everything or of one component. */
export const changesQuery = (filter: ChangeFilter = {}) =>
  list(`changes ${JSON.stringify(filter)}`, () => desktop.get('/rest/monitor/history', { query: filter as never }));

/** Changes by cause: one dead domain controller is one group. */
export const changeGroupsQuery = (filter: ChangeFilter = {}) =>
  list(`change-groups ${JSON.stringify(filter)}`, () => desktop.get('/rest/monitor/history/groups', { query: filter as never }));

/** A measure over time, of one component or of all of a kind. */
export const samplesQuery = (of: { kind: string; id?: string; measure: string; since?: number }) =>
  list(`samples ${JSON.stringify(of)}`, () => desktop.get('/rest/monitor/samples', { query: of as never }));
