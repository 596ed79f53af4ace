import { useEffect, type ReactNode } from 'react';
import { Button } from '../parts/Button';
import { Icon } from '../parts/Icon';
import { Freshness, StaleBanner } from './Freshness';
import { useFrame } from './context';

interface Props {
  title: string;
  /** What stands before the title: links to the lists above. */
  crumbs?: ReactNode;
  /** Beside the title: a count or a switch. */
  beside?: ReactNode;
  actions?: ReactNode;
  /** Fills the window and scrolls inside. */
  fixed?: boolean;
  className?: string;
  children: ReactNode;
}

/** A screen: the top bar and what is below it. */
export function Page({ title, crumbs, beside, actions, fixed, className = '', children }: Props) {
  const frame = useFrame();
  useEffect(() => {
    document.title = `${title} · Vigil`;
  }, [title]);
  return (
    <div className="page">
      <header className="bar">
        <Button
          look="quiet"
          icon="menu"
          className="menu-button"
          aria-label="Menu"
          aria-expanded={frame.menuOpen}
          onClick={frame.toggleMenu}
        />
        {crumbs ? (
          <div className="crumbs">
            {crumbs}
            <span aria-hidden="true">/</span>
            <h1>{title}</h1>
          </div>
        ) : (
          <h1>{title}</h1>
        )}
        {beside}
        <div className="bar-end">
          {actions}
          <Freshness />
          <button type="button" className="jump" onClick={frame.openJump} aria-keyshortcuts="Control+K">
            <Icon name="search" small />
            <span>Search or jump to</span>
            <kbd aria-hidden="true">Ctrl K</kbd>
          </button>
          <Button look="quiet" icon="moon" className="wide" aria-label="Theme" onClick={frame.nextTheme} />
          <Button look="quiet" icon="help" className="wide" aria-label="Keys and help" onClick={frame.openHelp} />
        </div>
      </header>
      <StaleBanner />
      <main id="main" tabIndex={-1} className={`main ${fixed ? 'fixed' : ''} ${className}`}>
        {children}
      </main>
    </div>
  );
}
