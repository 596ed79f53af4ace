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
  /** The caller sees only some cloud accounts. */
  limited?: boolean;
  /** Parts of the API that the caller's token may use; none means all. */
  scopes?: string[];
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

/** A part of the posture API that a token can be limited to. */
export type Scope = 'accounts' | 'administration' | 'findings' | 'rules';

/** Whether the caller's token may use a part of the API. */
export const allowsScope = (session: Session | undefined, scope: Scope) => !session?.scopes?.length || session.scopes.includes(scope);

/**
 * Why the caller may not make a change; undefined if the caller may. The caller needs the role. If the caller's token is limited to
 * parts of the API, `scope` must be one of them. Callers who see only some accounts may not make changes that concern the whole
 * organisation. Every user who logs in to the desktop server is an admin.
 */
export function useRefusal(
  role: 'analyst' | 'admin',
  scope?: Scope,
  concerns: 'accounts' | 'organisation' = 'accounts',
): string | undefined {
  const session = useQuery(sessionQuery).data;
  if (ranks.indexOf((session?.role ?? '').toLowerCase()) < ranks.indexOf(role)) return `Requires the role ${role}`;
  if (scope && !allowsScope(session, scope))
    return `The API token that you logged in with is limited to ${session?.scopes?.join(', ')}; this requires ${scope}`;
  if (concerns === 'organisation' && session?.limited)
    return 'Your access is limited to some cloud accounts; this concerns the whole organisation';
  return undefined;
}
