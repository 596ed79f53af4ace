import { Frame } from '../frame/Frame';
import { routerOf } from '../frame/router';
import { jumpTargets } from './jump';
import { useMenu } from './menu';

const letters = { '/health': 'h', '/gateways': 'g', '/connection-servers': 's', '/farms': 'f', '/rds-servers': 'w', '/alerts': 'a' };

const DesktopFrame = () => <Frame server="desktop" useMenu={useMenu} letters={letters} find={jumpTargets} />;

export const makeRouter = () =>
  routerOf(DesktopFrame, '/health', {
    '/health': () => import('./health/Health'),
    '/rds-servers': () => import('./wall/Wall'),
    '/rds-servers/$id': () => import('./wall/Wall'),
    '/$kind': () => import('./kinds/KindScreen'),
    '/$kind/$id': () => import('./kinds/KindScreen'),
  });
