import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { ApiError } from '../../api/error';
import { desktop, type DomainAccount } from '../../api/desktop';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Checkbox, SelectField, TextField } from '../../parts/Field';
import { useKeys } from '../../parts/keys';
import { Answer, Empty } from '../../parts/states';
import { sentence } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { accountsQuery, adDomainsQuery } from '../data';

type Doing = { what: 'add' } | { what: 'password' | 'delete'; account: DomainAccount };

/** Returns `run`, which makes a change on the server. `error` is the server's answer if it refused the change. */
function useChange(onDone: () => void) {
  const client = useQueryClient();
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const run = async (change: () => Promise<unknown>, done: string) => {
    setBusy(true);
    setError(undefined);
    try {
      await change();
      await client.invalidateQueries({ queryKey: accountsQuery.queryKey });
      showToast(done);
      onDone();
    } catch (cause) {
      if (cause instanceof ApiError) setError(cause);
      else throw cause;
    } finally {
      setBusy(false);
    }
  };
  return { run, error, busy };
}

const message = (error: ApiError | undefined) => error && sentence(error.message);

/**
 * The errors that are shown beside the fields of a new account. An answer that names no field, as when the domain refuses the
 * login, is shown beside the password.
 */
export function accountErrors(error: ApiError | undefined) {
  if (error?.status === 409) return { username: message(error) }; // the domain has such an account already
  const other = error?.apartFrom('ad_domain_id', 'username');
  return {
    domain: error?.field('ad_domain_id'),
    username: error?.field('username'),
    password: error?.field('password') ?? (other && sentence(other)),
  };
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const domains = useQuery(adDomainsQuery).data ?? [];
  const [verify, setVerify] = useState(true);
  const { run, error, busy } = useChange(onClose);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body = {
      ad_domain_id: String(form.get('domain')),
      username: String(form.get('username')).trim(),
      password: [String(form.get('password'))], // the API takes a list of strings, which it joins
    };
    void run(() => desktop.post('/rest/config/v1/ic-domain-accounts', { body, query: { verify } }), `${body.username} is added`);
  };
  const errors = accountErrors(error);
  return (
    <Dialog title="Add a domain account" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <SelectField
          label="Domain"
          name="domain"
          required
          options={domains.map((d) => ({ value: d.id, label: `${d.dns_name} (${d.netbios_name})` }))}
          error={errors.domain}
        />
        <TextField label="User name" name="username" required autoComplete="off" error={errors.username} />
        <TextField label="Password" name="password" type="password" required autoComplete="new-password" error={errors.password} />
        <Checkbox label="Verify the credentials with the domain first" checked={verify} onChange={(e) => setVerify(e.target.checked)} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" writes disabled={busy}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function PasswordDialog({ account, onClose }: { account: DomainAccount; onClose: () => void }) {
  const { run, error, busy } = useChange(onClose);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = [String(new FormData(event.currentTarget).get('password'))]; // the API takes a list of strings, which it joins
    void run(
      () => desktop.put('/rest/config/v1/ic-domain-accounts/{id}', { path: { id: account.id }, body: { password } }),
      `The password of ${account.username} is changed`,
    );
  };
  return (
    <Dialog title={`Change the password of ${account.username}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField
          label="New password"
          name="password"
          type="password"
          required
          autoFocus
          autoComplete="new-password"
          error={message(error)}
          hint="The server tests it against the domain before it stores it, and never shows it."
        />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" writes disabled={busy}>
            Change
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function DeleteDialog({ account, onClose }: { account: DomainAccount; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const { run, error, busy } = useChange(onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(
      () => desktop.delete('/rest/config/v1/ic-domain-accounts/{id}', { path: { id: account.id } }),
      `${account.username} is deleted`,
    );
  };
  return (
    <Dialog title={`Delete ${account.username}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p className="t2">Instant clones can no longer join their domain with it.</p>
        <TextField
          label={`Type ${account.username} to delete it`}
          value={typed}
          autoFocus
          error={message(error)}
          onChange={(e) => setTyped(e.target.value)}
        />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" writes disabled={busy || typed !== account.username}>
            Delete
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The accounts that instant clones join their domain with. */
export default function DomainAccounts() {
  const query = useQuery(accountsQuery);
  const domains = new Map(useQuery(adDomainsQuery).data?.map((d) => [d.id, d.dns_name]));
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  useKeys([{ keys: 'n', does: 'Add a domain account', run: () => setDoing({ what: 'add' }) }]);
  return (
    <Page
      title="Domain accounts"
      actions={
        <Button look="primary" icon="plus" writes onClick={() => setDoing({ what: 'add' })}>
          Add
        </Button>
      }
    >
      <Answer query={query} what="the accounts" padded>
        {(accounts) =>
          accounts.length === 0 ? (
            <Empty
              padded
              title="No domain accounts yet"
              action={
                <Button look="primary" onClick={() => setDoing({ what: 'add' })}>
                  Add one
                </Button>
              }
            >
              Instant clones join their domain with such an account.
            </Empty>
          ) : (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>User name</th>
                    <th>Domain</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {accounts.map((a) => (
                    <tr key={a.id}>
                      <th scope="row">{a.username}</th>
                      <td>{domains.get(a.ad_domain_id) ?? a.ad_domain_id}</td>
                      <td className="num">
                        <span className="row tight">
                          <Button className="end" writes onClick={() => setDoing({ what: 'password', account: a })}>
                            Change password
                          </Button>
                          <Button writes look="danger" onClick={() => setDoing({ what: 'delete', account: a })}>
                            Delete
                          </Button>
                        </span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answer>
      {doing?.what === 'add' && <AddDialog onClose={close} />}
      {doing?.what === 'password' && <PasswordDialog account={doing.account} onClose={close} />}
      {doing?.what === 'delete' && <DeleteDialog account={doing.account} onClose={close} />}
    </Page>
  );
}
