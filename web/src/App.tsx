import { QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider, type AnyRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError } from './api/error';
import { loggedInAgain, whenLoggedOut } from './api/request';
import { configQuery, sessionQuery, type Config, type Session } from './api/session';
import { Boundary } from './frame/Boundary';
import { Login, LoginAgain } from './frame/Login';
import { makeQueryClient } from './frame/queries';
import { Failure } from './parts/states';

const client = makeQueryClient();

/** Loads the screens of the product that this server runs: posture or desktop. */
function useRouterOf(config: Config): AnyRouter | undefined {
  const [router, setRouter] = useState<AnyRouter>();
  useEffect(() => {
    const load = config.product === 'posture' ? import('./posture/routes') : import('./desktop/routes');
    void load.then((module) => setRouter(module.makeRouter()));
  }, [config.product]);
  return router;
}

/** Selects what another user must not see: every cached answer but the session and the configuration. */
const dependsOnUser = (q: { queryKey: readonly unknown[] }) => q.queryKey[0] !== 'session' && q.queryKey[0] !== 'config';

function Console({ config }: { config: Config }) {
  const session = useQuery(sessionQuery);
  const router = useRouterOf(config);
  const queries = useQueryClient();
  const [ended, setEnded] = useState(false);
  useEffect(() => whenLoggedOut(() => setEnded(true)), []);
  const accept = (next: Session) => {
    if (next.userId !== session.data?.userId) queries.removeQueries({ predicate: dependsOnUser });
    queries.setQueryData(sessionQuery.queryKey, next);
    setEnded(false);
    loggedInAgain();
    void queries.invalidateQueries({ predicate: dependsOnUser });
  };
  if (session.isPending || !router) return null;
  if (!session.data) {
    const refused = session.error instanceof ApiError && (session.error.status === 401 || session.error.status === 403);
    if (!refused)
      return (
        <main className="login">
          <Failure error={session.error} what="the session" onRetry={() => void session.refetch()} />
        </main>
      );
    return (
      <main className="login">
        <Login config={config} onSession={accept} />
      </main>
    );
  }
  return (
    <>
      <RouterProvider router={router} />
      {ended && <LoginAgain config={config} onSession={accept} />}
    </>
  );
}

function Start() {
  const config = useQuery(configQuery);
  if (config.data) return <Console config={config.data} />;
  if (config.isPending) return null;
  return (
    <main className="login">
      <Failure error={config.error} what="the server" onRetry={() => void config.refetch()} />
    </main>
  );
}

export const App = () => (
  <QueryClientProvider client={client}>
    <Boundary>
      <Start />
    </Boundary>
  </QueryClientProvider>
);
