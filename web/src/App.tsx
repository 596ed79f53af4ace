import { QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider, type AnyRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { whenLoggedOut } from './api/request';
import { configQuery, sessionQuery, type Config } from './api/session';
import { Boundary } from './frame/Boundary';
import { Login } from './frame/Login';
import { makeQueryClient } from './frame/queries';
import { Failure } from './parts/states';

const client = makeQueryClient();

/** Loads the screens of the server that this is. */
function useRouterOf(config: Config): AnyRouter | undefined {
  const [router, setRouter] = useState<AnyRouter>();
  useEffect(() => {
    const load = config.product === 'posture' ? import('./posture/routes') : import('./desktop/routes');
    void load.then((module) => setRouter(module.makeRouter()));
  }, [config.product]);
  return router;
}

function Console({ config }: { config: Config }) {
  const session = useQuery(sessionQuery);
  const router = useRouterOf(config);
  const queries = useQueryClient();
  useEffect(() => whenLoggedOut(() => void queries.resetQueries({ queryKey: sessionQuery.queryKey, exact: true })), [queries]);
  if (session.isPending || !router) return null;
  if (!session.data) return <Login config={config} />;
  return <RouterProvider router={router} />;
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
