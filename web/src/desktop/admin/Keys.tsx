import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { desktop, type MonitoringKey } from '../../api/desktop';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Dialog } from '../../parts/Dialog';
import { TextField } from '../../parts/Field';
import { useKeys } from '../../parts/keys';
import { Answer, Empty } from '../../parts/states';
import { sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { useSubmit } from '../../parts/useSubmit';
import { Secret } from '../../posture/accounts/ScriptBox';

const keysKey = ['desktop', 'keys'];

function NewKey({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [made, setMade] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const { submit, busy } = useSubmit(async (element) => {
    setError(undefined);
    const form = new FormData(element);
    const ends = String(form.get('expiry') ?? '');
    try {
      const key = await desktop.post('/rest/config/v1/monitoring-keys', {
        body: { name: String(form.get('name')).trim(), ...(ends ? { expires_at: new Date(`${ends}T00:00:00`).getTime() } : {}) },
      });
      setMade(key.key);
      await client.invalidateQueries({ queryKey: keysKey });
    } catch (cause) {
      if (cause instanceof ApiError) setError(cause);
      else throw cause;
    }
  });
  return (
    <Dialog title="New monitoring key" onClose={onClose}>
      {made ? (
        <Secret label="Monitoring key" value={made} />
      ) : (
        <form className="form" onSubmit={submit}>
          <TextField
            label="Name"
            name="name"
            required
            autoFocus
            maxLength={100}
            error={error && sentence(error.field('name') ?? error.apartFrom('expires_at') ?? '')}
          />
          <TextField
            label="Expires"
            name="expiry"
            type="date"
            hint="In 90 days when left empty, unless the setting token_life says otherwise"
            error={error?.field('expires_at')}
          />
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

/** Read-only keys for dashboards and scripts. */
export function Keys() {
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<MonitoringKey>();
  const query = useQuery({ queryKey: keysKey, queryFn: () => desktop.get('/rest/config/v1/monitoring-keys') });
  useKeys([{ keys: 'n', does: 'New key', run: () => setAdding(true) }]);
  return (
    <>
      <div className="toolbar">
        <Button look="primary" icon="plus" writes onClick={() => setAdding(true)}>
          New key
        </Button>
        <span className="t3 small">Read-only, for dashboards and scripts.</span>
      </div>
      <Answer query={query} what="the keys" padded>
        {(keys) =>
          keys.length === 0 ? (
            <Empty padded title="No monitoring keys yet">
              A key reads the monitor and changes nothing.
            </Empty>
          ) : (
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th className="wide">Begins with</th>
                    <th className="wide">Created by</th>
                    <th>Created</th>
                    <th className="wide">Expires</th>
                    <th>Last used</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {keys.map((k) => (
                    <tr key={k.id}>
                      <th scope="row">{k.name}</th>
                      <td className="wide">
                        <code>{k.hint}</code>
                      </td>
                      <td className="wide">{k.created_by}</td>
                      <td>
                        <Time at={k.created_at} />
                      </td>
                      <td className="wide">{k.expires_at ? <Time at={k.expires_at} as="date" /> : 'never'}</td>
                      <td>
                        <Time at={k.last_used_at} />
                      </td>
                      <td className="num">
                        <Button writes look="danger" onClick={() => setRemoving(k)}>
                          Revoke
                        </Button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answer>
      {adding && <NewKey onClose={() => setAdding(false)} />}
      {removing && (
        <Confirm
          title={`Revoke ${removing.name}`}
          action="Revoke"
          onClose={() => setRemoving(undefined)}
          run={() =>
            desktop
              .delete('/rest/config/v1/monitoring-keys/{id}', { path: { id: removing.id } })
              .then(() => client.invalidateQueries({ queryKey: keysKey }))
          }
        >
          Programs that use this key lose access at once.
        </Confirm>
      )}
    </>
  );
}
