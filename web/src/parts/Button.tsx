import type { ButtonHTMLAttributes } from 'react';
import { useConnection } from '../api/connection';
import { Icon, type IconName } from './Icon';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: IconName;
  look?: 'primary' | 'quiet' | 'danger' | 'go';
  keys?: string;
  /** Why the caller may not do this; the button is disabled then. */
  refused?: string | undefined;
  /** Pressing it changes something on the server, so it is disabled while the server cannot be reached. */
  writes?: boolean;
}

/** A button. It stays visible when the caller may not use it, disabled and with the reason as its title. */
export function Button({ icon, look, keys, refused, writes, children, className = '', ...rest }: Props) {
  const { lostSince } = useConnection();
  const unreachable = writes && lostSince !== undefined;
  const title = refused ?? (unreachable ? 'The server cannot be reached' : rest.title);
  return (
    <button
      type="button"
      {...rest}
      title={title}
      disabled={rest.disabled || !!refused || unreachable}
      className={`btn ${look ?? ''} ${children ? '' : 'icon'} ${className}`}
    >
      {icon && <Icon name={icon} small />}
      {children}
      {keys && <kbd aria-hidden="true">{keys}</kbd>}
    </button>
  );
}
