import { useEffect, useRef, useState, type FormEvent } from 'react';
import { ApiError } from '../api/error';
import { forgetAnswers } from '../api/request';
import { logIn, type Config, type Login as Credentials, type Session } from '../api/session';
import { Button } from '../parts/Button';
import { TextField } from '../parts/Field';
import { Mark } from '../parts/marks';
import { sentence } from '../parts/text';
import { Logo } from './Navigation';

function TokenFields({ error }: { error: string | undefined }) {
  return (
    <TextField
      label="API token"
      name="apiToken"
      type="password"
      required
      autoFocus
      error={error}
      hint="An administrator creates one under Admin, Tokens."
    />
  );
}

function DirectoryFields({ error }: { error: string | undefined }) {
  return (
    <>
      <TextField label="Domain" name="domain" required autoFocus />
      <TextField label="User name" name="username" required autoComplete="username" />
      <TextField label="Password" name="password" type="password" required autoComplete="current-password" error={error} />
    </>
  );
}

function read(form: HTMLFormElement, product: Config['product']): Credentials {
  const value = (name: string) => String(new FormData(form).get(name) ?? '').trim();
  return product === 'posture'
    ? { apiToken: value('apiToken') }
    : { domain: value('domain'), username: value('username'), password: String(new FormData(form).get('password')) };
}

interface Props {
  config: Config;
  onSession: (session: Session) => void;
}

/** Asks who it is. The address stays, so that one is back where one was. */
export function Login({ config, onSession }: Props) {
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    try {
      forgetAnswers();
      onSession(await logIn(read(event.currentTarget, config.product)));
    } catch (cause) {
      setError(cause instanceof ApiError ? sentence(cause.message) : 'The login failed.');
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="login-form" onSubmit={(e) => void submit(e)}>
      <h1 className="brand">
        <Logo />
        Vigil<span className="brand-org">{config.product === 'posture' ? 'Posture' : 'Desktop'}</span>
      </h1>
      {config.product === 'posture' ? <TokenFields error={error} /> : <DirectoryFields error={error} />}
      <Button type="submit" look="primary" disabled={busy}>
        Log in
      </Button>
      {config.login.includes('oidc') && (
        <a className="btn" href="/console/sso/start">
          Log in with single sign-on
        </a>
      )}
    </form>
  );
}

/** The login above the page that a session ended on; what was on the page stays. */
export function LoginAgain(props: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} className="dialog" aria-label="Log in again" onCancel={(e) => e.preventDefault()}>
      <div className="dialog-body">
        <p className="note warn">
          <Mark name="warn" />
          <span>Your session has ended. Log in to go on where you were.</span>
        </p>
        <Login {...props} />
      </div>
    </dialog>
  );
}
