import { Frame } from '../frame/Frame';
import type { Target } from '../frame/JumpBox';
import { routerOf } from '../frame/router';
import { jumpTargets } from './jump';
import { useMenu } from './menu';

/** G and then the letter opens the screen. */
const letters = { '/health': 'h', '/gateways': 'g', '/connection-servers': 's', '/farms': 'f', '/rds-servers': 'w', '/alerts': 'a' };

const shortcuts: Target[] = [{ group: 'Action', icon: 'plus', label: 'New alert rule', to: '/alert-rules/new' }];
const hint = 'Screens and components by name';
const DesktopFrame = () => (
  <Frame server="desktop" useMenu={useMenu} letters={letters} find={jumpTargets} hint={hint} shortcuts={shortcuts} />
);

export const makeRouter = () =>
  routerOf(DesktopFrame, '/health', {
    '/health': () => import('./health/Health'),
    '/rds-servers': () => import('./wall/Wall'),
    '/rds-servers/$id': () => import('./wall/Wall'),
    '/alerts': () => import('./alerts/Alerts'),
    '/alert-rules/$id': () => import('./alerts/AlertRuleEditor'),
    '/history': () => import('./history/History'),
    '/domain-accounts': () => import('./accounts/DomainAccounts'),
    '/machines': () => import('./machines/Machines'),
    '/event-database': () => import('./kinds/EventDatabase'),
    '/admin': () => import('./admin/Admin'),
    '/admin/$tab': () => import('./admin/Admin'),
    '/$kind': () => import('./kinds/KindScreen'),
    '/$kind/$id': () => import('./kinds/KindScreen'),
  });
