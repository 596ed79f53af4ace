import { queryOptions } from '@tanstack/react-query';
import { desktop } from '../api/desktop';
import { setPulse } from '../frame/pulse';

/** Lists of components, asked for every 15 seconds while the page is visible. */
const every = 15_000;

function list<T>(name: string, ask: () => Promise<T>) {
  return queryOptions({
    queryKey: ['desktop', name],
    queryFn: async () => {
      const answer = await ask();
      setPulse({ lookedAt: Date.now(), every: every / 1000 });
      return answer;
    },
    refetchInterval: every,
    staleTime: 5_000,
  });
}

export const gatewaysQuery = list('gateways', () => desktop.get('/rest/monitor/gateways'));
export const connectionServersQuery = list('connection-servers', () => desktop.get('/rest/monitor/connection-servers'));
export const domainsQuery = list('domains', () => desktop.get('/rest/monitor/ad-domains'));
export const farmsQuery = list('farms', () => desktop.get('/rest/monitor/farms'));
export const rdsQuery = list('rds-servers', () => desktop.get('/rest/monitor/rds-servers'));
export const centersQuery = list('virtual-centers', () => desktop.get('/rest/monitor/virtual-centers'));
export const podsQuery = list('pods', () => desktop.get('/rest/monitor/v1/pods'));
export const samlQuery = list('saml', () => desktop.get('/rest/monitor/saml-authenticators'));
export const ssoQuery = list('true-sso', () => desktop.get('/rest/monitor/v1/true-sso'));
export const composersQuery = list('composers', () => desktop.get('/rest/monitor/desktop-composers'));
export const eventDatabaseQuery = list('event-database', () => desktop.get('/rest/monitor/event-database'));
export const alertsQuery = list('alerts', () => desktop.get('/rest/monitor/alerts'));
export const agentsQuery = list('agents', () => desktop.get('/rest/config/v1/agents'));
export const accountsQuery = list('domain-accounts', () => desktop.get('/rest/config/v1/ic-domain-accounts'));
export const adDomainsQuery = list('ad-domains', () => desktop.get('/rest/external/v1/ad-domains'));
export const alertRulesQuery = list('alert-rules', () => desktop.get('/rest/config/v1/alert-rules'));

/** The newest changes, of everything or of one component. */
export const changesQuery = (filter: { kind?: string; id?: string; limit?: number; since?: number } = {}) =>
  list(`changes ${JSON.stringify(filter)}`, () => desktop.get('/rest/monitor/history', { query: filter as never }));
