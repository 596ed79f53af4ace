import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { ApiError } from '../../api/error';
import { desktop } from '../../api/desktop';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { TextField } from '../../parts/Field';
import { Answer, Empty } from '../../parts/states';
import { sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { say } from '../../parts/toast';
import { Secret } from '../../posture/accounts/ScriptBox';
import '../../posture/accounts/accounts.css';

const keysKey = ['desktop', 'keys'];
const tell = (cause: unknown) => say(cause instanceof ApiError ? sentence(cause.message) : 'That failed.');

/** Read-only keys for monitoring. */
export default function Admin() {
  const client = useQueryClient();
  const [adding, setAdding] = useState(false);
  const [made, setMade] = useState<string>();
  const query = useQuery({ queryKey: keysKey, queryFn: () => desktop.get('/rest/config/v1/monitoring-keys') });
  const renew = () => client.invalidateQueries({ queryKey: keysKey });
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    void desktop.post('/rest/config/v1/monitoring-keys', { body: { name } }).then((key) => { setMade(key.key); void renew(); }, tell);
  };
  const remove = (id: string, name: string) => window.confirm(`Revoke the key ${name}?`) && void desktop.delete('/rest/config/v1/monitoring-keys/{id}', { path: { id } }).then(renew, tell);
  const close = () => { setAdding(false); setMade(undefined); };
  return (
    <Page title="Admin" actions={<Button look="primary" icon="plus" changes onClick={() => setAdding(true)}>New key</Button>}>
      <div className="region-head region"><h2>Monitoring keys</h2><span className="end">read-only, for dashboards and scripts</span></div>
      <Answer query={query} what="the keys" padded>
        {(keys) => keys.length === 0 ? <Empty padded title="There is no monitoring key">A key reads the monitor and changes nothing.</Empty> : <table className="table"><thead><tr><th>Name</th><th className="wide">Begins with</th><th className="wide">Made by</th><th>Made</th><th>Last used</th><th><span className="hide">Actions</span></th></tr></thead><tbody>{keys.map((k) => <tr key={k.id}><th scope="row">{k.name}</th><td className="wide"><code>{k.hint}</code></td><td className="wide">{k.created_by}</td><td><Time at={k.created_at} /></td><td><Time at={k.last_used_at} /></td><td className="num"><Button changes look="danger" onClick={() => remove(k.id, k.name)}>Revoke</Button></td></tr>)}</tbody></table>}
      </Answer>
      {adding && <Dialog title="New monitoring key" onClose={close}>{made ? <Secret label="Monitoring key" value={made} /> : <form className="form" onSubmit={add}><TextField label="Name" name="name" required autoFocus maxLength={100} /><div className="dialog-foot"><Button onClick={close}>Cancel</Button><Button type="submit" look="primary" changes>Make it</Button></div></form>}</Dialog>}
    </Page>
  );
}
