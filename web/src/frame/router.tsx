import { createRootRoute, createRoute, createRouter, redirect, type AnyRouter, type RouteComponent } from '@tanstack/react-router';
import { lazy, Suspense, type ComponentType } from 'react';
import { canReach, reachedAgain, useConnection } from '../api/connection';
import { formatSearch, parseSearch } from './address';
import { Page } from './Page';
import { ScreenFailed } from './Boundary';
import { Empty } from '../parts/states';

type Loader = () => Promise<{ default: ComponentType }>;

/**
 * Loads the code of a screen. While the server cannot be reached, it waits and tries again. If the server can be reached and the code
 * fails to load twice, the server probably runs another version, which does not have this file: the error is thrown.
 */
const withRetry =
  (load: Loader): Loader =>
  async () => {
    for (let refused = 0; ;) {
      try {
        return await load();
      } catch (cause) {
        if (!(await canReach())) await reachedAgain();
        else if (++refused === 2) throw cause;
      }
    }
  };

/** Shown while the code of a screen is being loaded. */
function Loading() {
  const { lostSince } = useConnection();
  return lostSince === undefined ? (
    <div className="page" />
  ) : (
    <Page title="Not loaded yet">
      <Empty padded title="This screen is shown as soon as the server can be reached" />
    </Page>
  );
}

function screen(load: Loader): RouteComponent {
  const Screen = lazy(withRetry(load));
  return () => (
    <Suspense fallback={<Loading />}>
      <Screen />
    </Suspense>
  );
}

const NotFound = () => (
  <Page title="Not found">
    <Empty padded title="This screen does not exist">
      The address may be from another version of the console. Use the navigation, or Ctrl K.
    </Empty>
  </Page>
);

/** A router of screens by their path. The code of a screen is loaded when it is opened. */
export function routerOf(frame: RouteComponent, home: string, screens: Record<string, Loader>): AnyRouter {
  const root = createRootRoute({
    component: frame,
    notFoundComponent: NotFound,
    errorComponent: ScreenFailed,
    validateSearch: (search: Record<string, unknown>) => search,
  });
  const index = createRoute({
    getParentRoute: () => root,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: home, replace: true } as never);
    },
  });
  const routes = Object.entries(screens).map(([path, load]) => createRoute({ getParentRoute: () => root, path, component: screen(load) }));
  return createRouter({
    routeTree: root.addChildren([index, ...routes]),
    basepath: '/console',
    parseSearch,
    stringifySearch: formatSearch,
    trailingSlash: 'never',
    scrollRestoration: false,
    defaultErrorComponent: ScreenFailed, // of the screen alone: the frame stays
  }) as unknown as AnyRouter;
}
