import { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/error';
import { whenBack } from '../api/connection';

/** Errors that a retry may clear: the server is overloaded or not available, or too many calls were made. */
const isTransient = (error: unknown) => error instanceof ApiError && [429, 502, 503, 504].includes(error.status);

/** The cache of answers. A screen shows cached answers, and requests them again when the server's pulse reports a change. */
export function makeQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: 'always',
        staleTime: 10_000,
        gcTime: 10 * 60_000,
        retry: (failures, error) => isTransient(error) && failures < 3,
        retryDelay: (failures, error) => (error instanceof ApiError && error.retryAfter ? error.retryAfter * 1000 : 500 * 2 ** failures),
        refetchOnWindowFocus: true,
      },
      mutations: { networkMode: 'always' },
    },
  });
  whenBack(() => void client.invalidateQueries());
  return client;
}
