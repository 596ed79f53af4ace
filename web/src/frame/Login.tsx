import { useEffect, useRef, useState, type FormEvent } from 'react';
import { ApiError } from '../api/error';
import { forgetAnswers } from '../api/request';
import { logIn, type Config, type Login as Credentials, type Session } from '../api/session';
import { Button } from '../parts/Button';
import { TextField } from '../parts/Field';
import { Mark } from '../parts/marks';
import { sentence } from '../parts/text';
import { Logo } from './Navigation';

function TokenFields({ error, focus }: { error: string | undefined; focus: boolean }) {
  return (
    <TextField
      label="API token"
      name="apiToken"
      type="password"
      required
      autoFocus={focus}
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

/** Why single sign-on failed, by the reason that the server puts into the address. */
const ssoMessages: Record<string, string> = {
  unavailable: 'The identity provider is not available. Try again later, or log in with an API token.',
  misconfigured: 'Single sign-on is not set up correctly. An administrator finds the cause in the log of the server.',
  expired: 'The login was not finished in time, or was started in another browser or tab. Start it again.',
  denied: 'The identity provider did not log you in.',
  invalid: 'The answer of the identity provider is not valid. Start the login again; if it fails again, tell an administrator.',
  no_group: 'You are logged in at the identity provider, but none of your groups has access to Vigil. Ask an administrator for access.',
  disabled: 'Your user is disabled. Ask an administrator.',
};

/** The message for the reason in the address; none if the last login did not fail. */
function ssoMessage(): string | undefined {
  const reason = new URLSearchParams(window.location.search).get('sso');
  return reason === null
    ? undefined
    : (Object.hasOwn(ssoMessages, reason) && ssoMessages[reason]) || 'Single sign-on failed. Start the login again.';
}

/** A link that starts single sign-on, and why the last attempt failed. The login returns to the current address; after a failure, to the start page. */
function SingleSignOn() {
  const message = ssoMessage();
  const back = message ? '/console/' : window.location.pathname + window.location.search;
  return (
    <>
      {message && (
        <p className="note warn" role="alert">
          <Mark name="warn" />
          <span>{message}</span>
        </p>
      )}
      <a className="btn primary" href={`/console/sso/start?return=${encodeURIComponent(back)}`}>
        Continue with single sign-on
      </a>
      <p className="login-or">or</p>
    </>
  );
}

interface Props {
  config: Config;
  onSession: (session: Session) => void;
}

/** Asks the user to log in. The address stays, so that the same screen is shown after the login. */
export function Login({ config, onSession }: Props) {
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const single = config.login.includes('oidc');
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
      {single && <SingleSignOn />}
      {config.product === 'posture' ? <TokenFields error={error} focus={!single} /> : <DirectoryFields error={error} />}
      <Button type="submit" look={single ? undefined : 'primary'} disabled={busy}>
        Log in
      </Button>
    </form>
  );
}

/** Asks to log in again, in a dialog above the page whose session has ended. The page keeps its state. */
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
