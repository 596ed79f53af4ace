import type { ButtonHTMLAttributes } from 'react';
import { useConnection } from '../api/connection';
import { Icon, type IconName } from './Icon';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: IconName;
  look?: 'primary' | 'quiet' | 'danger' | 'go';
  keys?: string;
  /** The role that the action takes, when the caller's is too low. */
  takes?: string | false;
  /** Changes something on the server, so it is off while the server is not reached. */
  changes?: boolean;
}

/** A button. What may not be done is shown, off, and says why. */
export function Button({ icon, look, keys, takes, changes, children, className = '', ...rest }: Props) {
  const { lostSince } = useConnection();
  const unreached = changes && lostSince !== undefined;
  const title = takes ? `Takes the role ${takes}` : unreached ? 'The server is not reached' : rest.title;
  return (
    <button
      type="button"
      {...rest}
      title={title}
      disabled={rest.disabled || !!takes || unreached}
      className={`btn ${look ?? ''} ${children ? '' : 'icon'} ${className}`}
    >
      {icon && <Icon name={icon} small />}
      {children}
      {keys && <kbd aria-hidden="true">{keys}</kbd>}
    </button>
  );
}
