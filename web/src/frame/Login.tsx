import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { ApiError } from '../api/error';
import { logIn, sessionQuery, type Config, type Login as Credentials } from '../api/session';
import { Button } from '../parts/Button';
import { TextField } from '../parts/Field';
import { sentence } from '../parts/text';
import { Logo } from './Navigation';

function TokenFields({ error }: { error: string | undefined }) {
  return <TextField label="API token" name="apiToken" type="password" required autoFocus error={error} hint="An admin makes one under Admin, Tokens." />;
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
  return product === 'posture' ? { apiToken: value('apiToken') } : { domain: value('domain'), username: value('username'), password: String(new FormData(form).get('password')) };
}

/** Asks who it is. The address stays, so that one is back where one was. */
export function Login({ config }: { config: Config }) {
  const client = useQueryClient();
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    try {
      client.setQueryData(sessionQuery.queryKey, await logIn(read(event.currentTarget, config.product)));
      await client.invalidateQueries({ predicate: (q) => q.queryKey[0] !== 'session' && q.queryKey[0] !== 'config' });
    } catch (cause) {
      setError(cause instanceof ApiError ? sentence(cause.message) : 'The login failed.');
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="login">
      <form onSubmit={(e) => void submit(e)}>
        <h1 className="brand"><Logo />Vigil<span className="brand-org">{config.product === 'posture' ? 'Posture' : 'Desktop'}</span></h1>
        {config.product === 'posture' ? <TokenFields error={error} /> : <DirectoryFields error={error} />}
        <Button type="submit" look="primary" disabled={busy}>Log in</Button>
        {config.login.includes('oidc') && <a className="btn" href="/console/sso/start">Log in with single sign-on</a>}
      </form>
    </main>
  );
}
