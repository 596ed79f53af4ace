import type { ButtonHTMLAttributes } from 'react';
import { useConnection } from '../api/connection';
import { Icon, type IconName } from './Icon';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: IconName;
  look?: 'primary' | 'quiet' | 'danger' | 'go';
  keys?: string;
  /** Why the caller may not do this; the button is off then. */
  refused?: string | undefined;
  /** Changes something on the server, so it is off while the server is not reached. */
  changes?: boolean;
}

/** A button. What may not be done is shown, off, and says why. */
export function Button({ icon, look, keys, refused, changes, children, className = '', ...rest }: Props) {
  const { lostSince } = useConnection();
  const unreached = changes && lostSince !== undefined;
  const title = refused ?? (unreached ? 'The server is not reached' : rest.title);
  return (
    <button
      type="button"
      {...rest}
      title={title}
      disabled={rest.disabled || !!refused || unreached}
      className={`btn ${look ?? ''} ${children ? '' : 'icon'} ${className}`}
    >
      {icon && <Icon name={icon} small />}
      {children}
      {keys && <kbd aria-hidden="true">{keys}</kbd>}
    </button>
  );
}
