import { useId, type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes } from 'react';
import { Icon } from './Icon';

interface Common {
  label: string;
  error?: string | undefined;
  hint?: ReactNode;
}

interface Wiring {
  id: string;
  'aria-invalid': boolean;
  'aria-describedby': string | undefined;
}

function Labelled({ label, error, hint, children }: Common & { children: (wiring: Wiring) => ReactNode }) {
  const id = useId();
  const described = [error && `${id}-e`, hint && `${id}-h`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-invalid': !!error, 'aria-describedby': described || undefined })}
      {error && (
        <span className="field-error" id={`${id}-e`} role="alert">
          {error}
        </span>
      )}
      {hint && (
        <span className="field-hint" id={`${id}-h`}>
          {hint}
        </span>
      )}
    </div>
  );
}

export function TextField({ label, error, hint, mono, ...rest }: Common & { mono?: boolean } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Labelled label={label} error={error} hint={hint}>
      {(wiring) => <input className={`input ${mono ? 'mono' : ''}`} autoComplete="off" spellCheck={false} {...rest} {...wiring} />}
    </Labelled>
  );
}

export function TextArea({ label, error, hint, ...rest }: Common & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labelled label={label} error={error} hint={hint}>
      {(wiring) => <textarea className="input" rows={3} {...rest} {...wiring} />}
    </Labelled>
  );
}

export function SelectField({
  label,
  error,
  hint,
  options,
  ...rest
}: Common & { options: { value: string; label: string }[] } & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Labelled label={label} error={error} hint={hint}>
      {(wiring) => (
        <span className="select-box">
          <select className="input" {...rest} {...wiring}>
            {options.map((o) => (
              <option key={o.value} value={o.value}>
                {o.label}
              </option>
            ))}
          </select>
          <Icon name="down" small />
        </span>
      )}
    </Labelled>
  );
}

export function Checkbox({ label, ...rest }: { label: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="row tight">
      <input type="checkbox" {...rest} />
      {label}
    </label>
  );
}
