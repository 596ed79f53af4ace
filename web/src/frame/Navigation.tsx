import { Link, useLocation } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError } from '../api/error';
import { configQuery, logOut, sessionQuery } from '../api/session';
import { failureText } from '../parts/failure';
import { Icon, type IconName } from '../parts/Icon';
import { count, sentence } from '../parts/text';
import { showToast } from '../parts/toast';

/** One line of the navigation. */
export interface MenuItem {
  to: string;
  icon: IconName;
  label: string;
  count?: number | undefined;
  /** The count is of things with a problem. */
  bad?: boolean;
  /** The item is also the current one on pages at this address. */
  also?: string;
}
export interface MenuGroup {
  title?: string;
  items: MenuItem[];
}

export const Logo = () => (
  <svg viewBox="0 0 20 20" aria-hidden="true">
    <rect x=".5" y=".5" width="19" height="19" rx="5" className="logo-bg" />
    <path d="M4.6 6l5.4 9 5.4-9" className="logo-v" />
    <circle cx="10" cy="6.6" r="1.7" className="logo-dot" />
  </svg>
);

function Count({ item }: { item: MenuItem }) {
  if (item.count === undefined || (item.bad && item.count === 0)) return null;
  return (
    <span className={`n ${item.bad ? 'bad' : ''}`}>
      {count(item.count)}
      {item.bad && <span className="hide"> with a problem</span>}
    </span>
  );
}

function Item({ item, current }: { item: MenuItem; current: boolean }) {
  return (
    <Link to={item.to} aria-current={current ? 'page' : undefined}>
      <Icon name={item.icon} />
      <span className="menu-label">{item.label}</span>
      <Count item={item} />
    </Link>
  );
}

function ServerSwitch() {
  const config = useQuery(configQuery).data;
  if (!config) return null;
  const other = config.otherServer;
  if (!other) return null;
  const choice = (product: 'posture' | 'desktop', label: string) =>
    config.product === product ? <span aria-current="true">{label}</span> : <a href={`${other.url}/console/`}>{label}</a>;
  return (
    <div className="switch" role="group" aria-label="Server">
      {choice('posture', 'Posture')}
      {choice('desktop', 'Desktop')}
    </div>
  );
}

function Foot() {
  const config = useQuery(configQuery).data;
  const session = useQuery(sessionQuery).data;
  const leave = async () => {
    try {
      await logOut();
    } catch (cause) {
      const ended = cause instanceof ApiError && cause.status === 401;
      if (!ended) return showToast(`You are not logged out. ${failureText(cause)}`);
    }
    location.assign('/console/');
  };
  return (
    <div className="nav-foot">
      {config?.demo && (
        <div className="row">
          <span className="pill warn">Demo</span>
          {config.product === 'posture' ? 'simulated clouds' : 'simulated desktops'}
        </div>
      )}
      <div className="row">
        <span className="cut">
          {session?.userName} · {sentence(session?.role ?? '')}
        </span>
        <button type="button" className="link end" onClick={() => void leave()}>
          Log out
        </button>
      </div>
    </div>
  );
}

export function Navigation({ groups, open, footer }: { groups: MenuGroup[]; open: boolean; footer?: ReactNode }) {
  const { pathname } = useLocation();
  const session = useQuery(sessionQuery).data;
  const items = groups.flatMap((g) => g.items);
  const within = (address: string | undefined) => !!address && (pathname === address || pathname.startsWith(address + '/'));
  const current = items.filter((i) => within(i.to) || within(i.also)).sort((a, b) => b.to.length - a.to.length)[0];
  return (
    <nav className={`nav ${open ? 'open' : ''}`} aria-label="Main">
      <div className="brand">
        <Logo />
        Vigil
        <span className="brand-org cut" title={session?.organization?.name}>
          {session?.organization?.name}
        </span>
      </div>
      <ServerSwitch />
      <div className="menu">
        {groups.map((group) => [
          group.title && <h2 key={group.title}>{group.title}</h2>,
          ...group.items.map((item) => <Item key={item.to} item={item} current={item === current} />),
        ])}
      </div>
      {footer}
      <Foot />
    </nav>
  );
}
