import { Frame } from '../frame/Frame';
import type { Target } from '../frame/JumpBox';
import { routerOf } from '../frame/router';
import { jumpTargets } from './jump';
import { useMenu } from './menu';

const letters = {
  '/overview': 'o',
  '/findings': 'f',
  '/inventory': 'i',
  '/explore': 'e',
  '/activity': 'a',
  '/rules': 'r',
  '/compliance': 'c',
  '/mute-rules': 'm',
  '/notifications': 'n',
};

const shortcuts: Target[] = [
  { group: 'Action', icon: 'plus', label: 'Link an account', to: '/accounts/link' },
  { group: 'Action', icon: 'plus', label: 'New rule', to: '/rules/new' },
];
const hint = 'Screens, accounts, rules, controls, resources by name';
const PostureFrame = () => (
  <Frame server="posture" useMenu={useMenu} letters={letters} find={jumpTargets} hint={hint} shortcuts={shortcuts} />
);

export const makeRouter = () =>
  routerOf(PostureFrame, '/overview', {
    '/overview': () => import('./overview/Overview'),
    '/findings': () => import('./findings/Findings'),
    '/resource/$id': () => import('./resource/Resource'),
    '/mute-rules': () => import('./mutes/MuteRules'),
    '/rules': () => import('./rules/Rules'),
    '/rules/new': () => import('./rules/RuleEditor'),
    '/rules/$id/unknown': () => import('./rules/UnknownResources'),
    '/rules/$id': () => import('./rules/RuleEditor'),
    '/compliance': () => import('./compliance/Compliance'),
    '/compliance/$id': () => import('./compliance/Compliance'),
    '/inventory': () => import('./inventory/Inventory'),
    '/explore': () => import('./explore/Explore'),
    '/activity': () => import('./activity/Activity'),
    '/notifications': () => import('./notifications/Notifications'),
    '/notifications/$tab': () => import('./notifications/Notifications'),
    '/admin': () => import('./admin/Admin'),
    '/admin/$tab': () => import('./admin/Admin'),
    '/device-login': () => import('./admin/DeviceLogin'),
    '/accounts': () => import('./accounts/Accounts'),
    '/accounts/link': () => import('./link/Wizard'),
    '/accounts/link/$provider': () => import('./link/Wizard'),
    '/accounts/link/$provider/$step': () => import('./link/Wizard'),
    '/accounts/$id': () => import('./accounts/AccountPage'),
  });
