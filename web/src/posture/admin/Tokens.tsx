import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Role } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Dialog } from '../../parts/Dialog';
import { SelectField, TextField } from '../../parts/Field';
import { Mark } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { useSubmit } from '../../parts/useSubmit';
import { Secret } from '../accounts/ScriptBox';
import { LimitFields, LimitPill, limitPaths, useLimit } from './Limit';
import { roles, usersQuery } from './Users';

const unusedAfter = 90 * 24 * 3_600_000; // milliseconds in 90 days

function TokenDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const users = useQuery(usersQuery).data ?? [];
  const [error, setError] = useState<ApiError>();
  const [token, setToken] = useState<string>();
  const limit = useLimit();
  const { submit, busy } = useSubmit(async (form) => {
    setError(undefined);
    const value = (name: string) => String(new FormData(form).get(name) ?? '').trim();
    try {
      const made = await posture.post('/v1/api-tokens', {
        body: {
          name: value('name'),
          role: value('role') as Role,
          limitedTo: limit.limit,
          ...(value('user') ? { userId: value('user') } : {}),
          ...(value('expiry') ? { expiryTime: new Date(`${value('expiry')}T00:00:00`).toISOString() } : {}),
        },
      });
      setToken(made.token);
      await client.invalidateQueries({ queryKey: ['tokens'] });
    } catch (cause) {
      if (cause instanceof ApiError) setError(cause);
      else throw cause;
    }
  });
  const other = error?.apartFrom('name', 'role', 'expiryTime', ...limitPaths);
  return (
    <Dialog title="New API token" onClose={onClose}>
      {token ? (
        <Secret label="API token" value={token} />
      ) : (
        <form className="form" onSubmit={submit}>
          <TextField label="Name" name="name" required autoFocus error={error?.field('name')} />
          <SelectField
            label="Owner"
            name="user"
            options={[{ value: '', label: 'mine' }, ...users.map((u) => ({ value: u.id, label: u.name }))]}
          />
          <SelectField label="Role" name="role" defaultValue="viewer" options={roles} error={error?.field('role')} />
          <LimitFields {...limit} error={error} />
          <TextField
            label="Expires"
            name="expiry"
            type="date"
            hint="In 90 days when left empty, unless the setting token_life says otherwise"
            error={error?.field('expiryTime')}
          />
          {other && (
            <div className="note error" role="alert">
              <Mark name="error" />
              <span>{sentence(other)}</span>
            </div>
          )}
          <div className="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" look="primary" writes disabled={busy}>
              Create
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

export function Tokens() {
  const refused = useRefusal('admin', 'administration');
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const users = new Map(useQuery(usersQuery).data?.map((u) => [u.id, u.name]));
  const query = useQuery({ queryKey: ['tokens'], queryFn: async () => (await posture.get('/v1/api-tokens')).results });
  const [revoking, setRevoking] = useState<{ id: string; name: string }>();
  const unused = (t: { createdTime: string; lastUsedTime?: string }) =>
    Date.now() - new Date(t.lastUsedTime ?? t.createdTime).getTime() > unusedAfter;
  return (
    <>
      <div className="toolbar">
        <Button icon="plus" writes refused={refused} onClick={() => setAdding(true)}>
          New token
        </Button>
      </div>
      <Answer query={query} what="tokens" padded>
        {(tokens) => (
          <div className="table-scroll">
            <table className="table">
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Owner</th>
                  <th>Role</th>
                  <th className="wide">Begins with</th>
                  <th className="wide">Expires</th>
                  <th>Last used</th>
                  <th>
                    <span className="hide">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {tokens.map((t) => (
                  <tr key={t.id}>
                    <th scope="row">
                      {t.name} {unused(t) && <span className="pill warn">unused</span>}
                    </th>
                    <td>{users.get(t.userId) ?? t.userId}</td>
                    <td>
                      {t.role} <LimitPill limit={t.limitedTo} />
                    </td>
                    <td className="wide">
                      <code>{t.hint}</code>
                    </td>
                    <td className="wide t2">{t.expiryTime ? <Time at={t.expiryTime} as="date" /> : 'never'}</td>
                    <td className="t2">
                      <Time at={t.lastUsedTime} /> <span className="small t3 wide">{t.lastUsedAddress}</span>
                    </td>
                    <td className="num">
                      <Button writes look="danger" refused={refused} onClick={() => setRevoking(t)}>
                        Revoke
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Answer>
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.name}`}
          action="Revoke"
          onClose={() => setRevoking(undefined)}
          run={() =>
            posture
              .delete('/v1/api-tokens/{token_id}', { path: { token_id: revoking.id } })
              .then(() => client.invalidateQueries({ queryKey: ['tokens'] }))
          }
        >
          Programs that use this token lose access at once, and its sessions end.
        </Confirm>
      )}
      {adding && <TokenDialog onClose={() => setAdding(false)} />}
    </>
  );
}
