import { queryOptions, useQuery } from '@tanstack/react-query';
import { send, setCsrfToken } from './request';

/** What a server says about itself before anybody logs in. */
export interface Config {
  product: 'posture' | 'desktop';
  version: string;
  demo: boolean;
  /** Shown on every page. */
  warning?: string;
  otherServer?: { product: string; url: string };
  /** Ways to log in: apiToken, password, oidc. */
  login: string[];
}

/** Who is logged in. */
export interface Session {
  userId: string;
  userName: string;
  role: string;
  organization?: { id: string; name: string };
  sessionId?: string;
  endTime?: string;
  csrfToken?: string;
}

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: async () => (await send<Config>('GET', '/console/config')).data,
  staleTime: Infinity,
});

function accept(session: Session): Session {
  setCsrfToken(session.csrfToken ?? '');
  return session;
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async () => accept((await send<Session>('GET', '/console/session')).data),
  staleTime: Infinity,
  retry: false,
});

export type Login = { apiToken: string } | { domain: string; username: string; password: string };

export const logIn = async (login: Login): Promise<Session> =>
  accept((await send<Session>('POST', '/console/session', { body: login })).data);
export const logOut = () => send<void>('DELETE', '/console/session');

const ranks = ['viewer', 'analyst', 'admin'];

/** Whether the role of the session is at least the one named. Desktop logins are all admins. */
export function useMay(role: 'viewer' | 'analyst' | 'admin'): boolean {
  const session = useQuery(sessionQuery);
  return ranks.indexOf((session.data?.role ?? '').toLowerCase()) >= ranks.indexOf(role);
}
