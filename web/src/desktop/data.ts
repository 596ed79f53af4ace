import { useSyncExternalStore } from 'react';
import { queryOptions } from '@tanstack/react-query';
import { desktop } from '../api/desktop';
import { setPulse } from '../frame/pulse';

/** How often a list is requested while the page is visible, in milliseconds. */
const regularInterval = 15_000;

/** For a minute after something was broken or mended in the demo, lists are requested more often, so that the effect shows soon. */
const shortInterval = 3_000;
let watchUntil = 0;
export function watchClosely(): void {
  watchUntil = Date.now() + 60_000;
}
/** The present interval of the requests, in milliseconds. */
const interval = () => (Date.now() < watchUntil ? shortInterval : regularInterval);

// Whether the user has stopped the requests.
let paused = false;
/** The seconds between requests, as the top bar shows them; 0 while they are paused. */
const secondsBetween = () => (paused ? 0 : interval() / 1000);
const onPause = new Set<() => void>();
export function setPaused(on: boolean): void {
  paused = on;
  setPulse({ every: secondsBetween() });
  onPause.forEach((listener) => listener());
}
function subscribe(listener: () => void): () => void {
  onPause.add(listener);
  return () => onPause.delete(listener);
}
export const usePaused = () => useSyncExternalStore(subscribe, () => paused);

function list<T>(name: string, request: () => Promise<T>) {
  return queryOptions({
    queryKey: ['desktop', name],
    queryFn: async () => {
      const answer = await request();
      setPulse({ updatedAt: Date.now(), every: secondsBetween() });
      return answer;
    },
    refetchInterval: () => (paused ? false : interval()),
    staleTime: 5_000,
  });
}

/** Sends the ETag of the last answer: the server answers 304 if the list has not changed. */
const withETag = { conditional: true };

export const overviewQuery = list('overview', () => desktop.get('/rest/monitor/overview', withETag));
export const gatewaysQuery = list('gateways', () => desktop.get('/rest/monitor/gateways', withETag));
export const connectionServersQuery = list('connection-servers', () => desktop.get('/rest/monitor/connection-servers', withETag));
export const domainsQuery = list('domains', () => desktop.get('/rest/monitor/ad-domains', withETag));
export const farmsQuery = list('farms', () => desktop.get('/rest/monitor/farms', withETag));
export const rdsQuery = list('rds-servers', () => desktop.get('/rest/monitor/rds-servers', withETag));
export const centersQuery = list('virtual-centers', () => desktop.get('/rest/monitor/virtual-centers', withETag));
export const podsQuery = list('pods', () => desktop.get('/rest/monitor/v1/pods', withETag));
export const samlQuery = list('saml', () => desktop.get('/rest/monitor/saml-authenticators', withETag));
export const ssoQuery = list('true-sso', () => desktop.get('/rest/monitor/v1/true-sso', withETag));
export const composersQuery = list('composers', () => desktop.get('/rest/monitor/desktop-composers', withETag));
export const eventDatabaseQuery = list('event-database', () => desktop.get('/rest/monitor/event-database', withETag));
export const alertGroupsQuery = list('alert-groups', () => desktop.get('/rest/monitor/alert-groups'));
export const agentsQuery = list('agents', () => desktop.get('/rest/config/v1/agents'));
export const accountsQuery = list('domain-accounts', () => desktop.get('/rest/config/v1/ic-domain-accounts'));
export const adDomainsQuery = list('ad-domains', () => desktop.get('/rest/external/v1/ad-domains'));
export const alertRulesQuery = list('alert-rules', () => desktop.get('/rest/config/v1/alert-rules'));
export const incidentsQuery = list('incidents', () => desktop.get('/rest/demo/incidents'));

/** The filter of a request for the history. */
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

/** Changes by cause: all that a dead domain controller causes is one group. */
export const changeGroupsQuery = (filter: ChangeFilter = {}) =>
  list(`change-groups ${JSON.stringify(filter)}`, () => desktop.get('/rest/monitor/history/groups', { query: filter as never }));

/** A measure over time, of one component or of all of a kind. */
export const samplesQuery = (of: { kind: string; id?: string; measure: string; since?: number }) =>
  list(`samples ${JSON.stringify(of)}`, () => desktop.get('/rest/monitor/samples', { query: of as never }));
