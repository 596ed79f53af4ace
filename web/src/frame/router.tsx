import { createRootRoute, createRoute, createRouter, redirect, type AnyRouter, type RouteComponent } from '@tanstack/react-router';
import { lazy, Suspense, type ComponentType } from 'react';
import { formatSearch, parseSearch } from './address';
import { Page } from './Page';
import { ScreenFailed } from './Boundary';
import { Empty } from '../parts/states';

type Loader = () => Promise<{ default: ComponentType }>;

function screen(load: Loader): RouteComponent {
  const Screen = lazy(load);
  return () => (
    <Suspense fallback={<div className="page" />}>
      <Screen />
    </Suspense>
  );
}

const NotFound = () => (
  <Page title="Not found">
    <Empty padded title="There is no such screen">The address may be of another version. Use the navigation, or Ctrl K.</Empty>
  </Page>
);

/** A router of screens by their path. The code of a screen is loaded when it is opened. */
export function routerOf(frame: RouteComponent, home: string, screens: Record<string, Loader>): AnyRouter {
  const root = createRootRoute({ component: frame, notFoundComponent: NotFound, errorComponent: ScreenFailed, validateSearch: (search: Record<string, unknown>) => search });
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
  }) as unknown as AnyRouter;
}
