import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type AccountLimit, type Role, type User } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { Button } from '../../parts/Button';
import { Conflict, differencesOf } from '../../parts/Conflict';
import { Dialog } from '../../parts/Dialog';
import { SelectField, TextField } from '../../parts/Field';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { useSubmit } from '../../parts/useSubmit';
import { LimitFields, LimitPill, limitPaths, useLimit } from './Limit';
import { limitTexts } from './limits';

export const usersQuery = { queryKey: ['users'], queryFn: async () => (await posture.get('/v1/users')).results };
export const roles = ['viewer', 'analyst', 'admin'].map((r) => ({ value: r, label: r }));

const labels = { name: 'Name', email: 'E-mail', role: 'Role', status: 'Status', limit: 'Limited to' };
const plain = (u: Body | User) => ({ ...u, limit: limitTexts(u.limitedTo) });

interface Body {
  name: string;
  email: string | null;
  role: Role;
  status: 'active' | 'disabled';
  limitedTo: AccountLimit | null;
}

function UserDialog({ user, isLastAdmin, onClose }: { user?: User; isLastAdmin: boolean; onClose: () => void }) {
  const client = useQueryClient();
  const [error, setError] = useState<ApiError>();
  const limit = useLimit(user?.limitedTo);
  const [conflict, setConflict] = useState<{ body: Body; theirs: User }>();
  const put = (body: Body, etag: string) => posture.put('/v1/users/{user_id}', { path: { user_id: user?.id ?? '' }, body, etag });
  const { submit, busy } = useSubmit(async (form) => {
    setError(undefined);
    const value = (name: string) => String(new FormData(form).get(name) ?? '').trim();
    const body: Body = {
      name: value('name'),
      email: value('email') || null,
      role: (value('role') || user?.role || 'viewer') as Role,
      status: (value('status') || 'active') as 'active',
      limitedTo: limit.limit,
    };
    try {
      if (user) await put(body, user.eTag);
      else await posture.post('/v1/users', { body });
      await client.invalidateQueries({ queryKey: ['users'] });
      showToast('Saved');
      onClose();
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      if (cause.status === 412 && user)
        setConflict({ body, theirs: await posture.get('/v1/users/{user_id}', { path: { user_id: user.id } }) });
      else setError(cause);
    }
  });
  const end = async (text: string) => {
    await client.invalidateQueries({ queryKey: ['users'] });
    showToast(text);
    onClose();
  };
  if (conflict)
    return (
      <Conflict
        what="the user"
        differences={differencesOf(labels, plain(conflict.body), plain(conflict.theirs))}
        onClose={() => setConflict(undefined)}
        onTheirs={() => void end('Theirs is kept')}
        onMine={() =>
          void put(conflict.body, conflict.theirs.eTag).then(
            () => end('Saved'),
            (cause: unknown) => {
              setConflict(undefined);
              setError(cause instanceof ApiError ? cause : undefined);
            },
          )
        }
      />
    );
  const other = error?.apartFrom('name', 'email', 'role', ...limitPaths);
  return (
    <Dialog title={user ? `Change ${user.name}` : 'New user'} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label="Name" name="name" required autoFocus defaultValue={user?.name} error={error?.field('name')} />
        <TextField label="E-mail" name="email" type="email" defaultValue={user?.email} error={error?.field('email')} />
        <SelectField
          label="Role"
          name="role"
          defaultValue={user?.role ?? 'viewer'}
          disabled={isLastAdmin}
          options={roles}
          error={error?.field('role')}
          hint={
            isLastAdmin
              ? 'The last admin must stay an admin.'
              : user?.singleSignOn
                ? 'Single sign-on sets name, e-mail, role and accounts again at the next login.'
                : undefined
          }
        />
        <LimitFields {...limit} error={error} />
        {user && (
          <SelectField
            label="Status"
            name="status"
            defaultValue={user.status}
            disabled={isLastAdmin}
            options={[
              { value: 'active', label: 'active' },
              { value: 'disabled', label: 'disabled' },
            ]}
          />
        )}
        {other && (
          <div className="note error" role="alert">
            <Mark name="error" />
            <span>{sentence(other)}</span>
          </div>
        )}
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" writes disabled={busy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function DeleteDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const { submit, busy } = useSubmit(() =>
    posture.delete('/v1/users/{user_id}', { path: { user_id: user.id } }).then(
      async () => {
        await client.invalidateQueries({ queryKey: ['users'] });
        showToast(`${user.name} is deleted`);
        onClose();
      },
      (cause: unknown) => setError(failureText(cause)),
    ),
  );
  return (
    <Dialog title={`Delete ${user.name}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p className="t2">Their sessions and API tokens are deleted too.</p>
        <TextField
          label={`Type ${user.name} to delete them`}
          value={typed}
          autoFocus
          error={error}
          onChange={(e) => setTyped(e.target.value)}
        />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" writes disabled={busy || typed !== user.name}>
            Delete
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

export function Users() {
  const refused = useRefusal('admin', 'administration');
  const query = useQuery(usersQuery);
  const [doing, setDoing] = useState<{ what: 'new' | 'change' | 'delete'; user?: User }>();
  useKeys([{ keys: 'n', does: 'New user', run: () => !refused && setDoing({ what: 'new' }) }]);
  const admins = query.data?.filter((u) => u.role === 'admin' && u.status === 'active') ?? [];
  const isLastAdmin = (u: User) => admins.length === 1 && admins[0]?.id === u.id;
  const close = () => setDoing(undefined);
  return (
    <>
      <div className="toolbar">
        <Button icon="plus" writes refused={refused} onClick={() => setDoing({ what: 'new' })}>
          New user
        </Button>
      </div>
      <Answer query={query} what="users" padded>
        {(users) => (
          <div className="table-scroll">
            <table className="table">
              <thead>
                <tr>
                  <th>Name</th>
                  <th className="wide">E-mail</th>
                  <th>Role</th>
                  <th>Status</th>
                  <th className="wide">Last seen</th>
                  <th className="wide roomy">Changed</th>
                  <th>
                    <span className="hide">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {users.map((u) => (
                  <tr key={u.id}>
                    <th scope="row">
                      {u.name} {u.singleSignOn && <span className="pill">single sign-on</span>}
                    </th>
                    <td className="wide t2">{u.email}</td>
                    <td>
                      {u.role} <LimitPill limit={u.limitedTo} />
                    </td>
                    <td>
                      <span className={`word c-${u.status === 'active' ? 'ok' : 'off'}`}>
                        <Mark name={u.status === 'active' ? 'ok' : 'off'} />
                        {u.status}
                      </span>
                    </td>
                    <td className="wide t3">{u.lastSeenTime ? <Time at={u.lastSeenTime} /> : 'never'}</td>
                    <td className="wide roomy t3">
                      <Time at={u.lastUpdateTime} />
                    </td>
                    <td>
                      <span className="row tight">
                        <Link className="btn quiet end wide" to="/admin/audit" search={{ actor: u.id } as never}>
                          Audit
                        </Link>
                        <Button writes refused={refused} onClick={() => setDoing({ what: 'change', user: u })}>
                          Change
                        </Button>
                        <Button
                          writes
                          look="danger"
                          refused={refused}
                          disabled={isLastAdmin(u)}
                          title={isLastAdmin(u) ? 'The last admin cannot be deleted' : undefined}
                          onClick={() => setDoing({ what: 'delete', user: u })}
                        >
                          Delete
                        </Button>
                      </span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Answer>
      {doing?.what === 'delete' && doing.user && <DeleteDialog user={doing.user} onClose={close} />}
      {doing && doing.what !== 'delete' && (
        <UserDialog {...(doing.user ? { user: doing.user } : {})} isLastAdmin={!!doing.user && isLastAdmin(doing.user)} onClose={close} />
      )}
    </>
  );
}
