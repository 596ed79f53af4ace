import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { copyText } from '../parts/Copy';
import { useKeys, type Key } from '../parts/keys';
import { rowKeys } from '../parts/rowKeys';
import { showToast, Toasts } from '../parts/toast';
import { useAddress, withoutFilters } from './address';
import { FrameContext, type FrameActions } from './context';
import { Help } from './Help';
import { JumpBox, type Found, type Target } from './JumpBox';
import { Navigation, type MenuGroup } from './Navigation';
import { nextTheme } from './theme';

interface Props {
  server: FrameActions['server'];
  useMenu: () => MenuGroup[];
  /** The letter after G for each address. */
  letters: Record<string, string>;
  find: (text: string) => Promise<Found>;
  /** Says what the jump box finds. */
  hint: string;
  /** What the jump box offers beside the screens. */
  shortcuts: Target[];
}

/** Everything around a screen: navigation, jump box, help, keys and messages. */
export function Frame({ server, useMenu, letters, find, hint, shortcuts }: Props) {
  const [layer, setLayer] = useState<'none' | 'jump' | 'help' | 'menu'>('none');
  const groups = useMenu();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const { search, change } = useAddress();
  useEffect(() => setLayer('none'), [pathname]);

  const theme = () => showToast(`Theme: ${nextTheme()}`);
  const go = (to: string) => void navigate({ to } as never);
  const items = groups.flatMap((g) => g.items);
  const keys: Key[] = [
    ...rowKeys,
    { keys: 'Ctrl+k', does: 'Search or jump to', run: () => setLayer('jump') },
    { keys: '/', does: 'Search or jump to', run: () => setLayer('jump') },
    { keys: '?', does: 'Keyboard shortcuts of this screen', run: () => setLayer('help') },
    { keys: 't', does: 'Theme', run: theme },
    { keys: 'c', does: 'Copy the link to this screen', run: () => void copyText(location.href, 'Link copied') },
    { keys: 'f', does: 'Focus the filter', run: () => document.querySelector<HTMLElement>('[data-filter]')?.focus() },
    { keys: 'Shift+f', does: 'Clear the filters', run: () => change(withoutFilters(search, pathname)) },
    ...items.flatMap((item): Key[] =>
      letters[item.to] ? [{ keys: `g ${letters[item.to]}`, does: `Go to ${item.label}`, run: () => go(item.to) }] : [],
    ),
  ];
  useKeys(keys, 'frame');
  const targets: Target[] = [
    ...items.map((i): Target => ({ group: 'Screen', icon: i.icon, label: i.label, to: i.to })),
    ...shortcuts,
    { group: 'Action', icon: 'moon', label: 'Theme', run: theme },
    { group: 'Action', icon: 'help', label: 'Keyboard shortcuts and UTC', run: () => setLayer('help') },
    { group: 'Action', icon: 'copy', label: 'Copy the link to this screen', run: () => void copyText(location.href, 'Link copied') },
  ];
  const actions = useMemo<FrameActions>(
    () => ({
      server,
      menuOpen: layer === 'menu',
      toggleMenu: () => setLayer((l) => (l === 'menu' ? 'none' : 'menu')),
      openJump: () => setLayer('jump'),
      openHelp: () => setLayer('help'),
      nextTheme: theme,
    }),
    [server, layer],
  );
  return (
    <FrameContext value={actions}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className="app">
        {layer === 'menu' && <button type="button" className="scrim" aria-label="Close menu" onClick={() => setLayer('none')} />}
        <Navigation groups={groups} open={layer === 'menu'} />
        <Outlet />
      </div>
      {layer === 'jump' && <JumpBox fixed={targets} hint={hint} find={find} onClose={() => setLayer('none')} />}
      {layer === 'help' && <Help onClose={() => setLayer('none')} />}
      <Toasts />
    </FrameContext>
  );
}
