import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Account } from '../../api/posture';
import { useMay } from '../../api/session';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { TextField } from '../../parts/Field';
import { sentence } from '../../parts/text';
import { say } from '../../parts/toast';

function DeleteDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const navigate = useNavigate();
  const client = useQueryClient();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await posture.delete('/v1/providers/{provider}/cloud-accounts/{cloud_account_id}', { path: { provider: account.provider, cloud_account_id: account.cloudAccountId } });
      await client.invalidateQueries({ queryKey: ['accounts'] });
      say(`${account.cloudAccountName} is deleted`);
      void navigate({ to: '/accounts' } as never);
    } catch (cause) {
      setError(cause instanceof ApiError ? sentence(cause.message) : 'That failed.');
    }
  };
  return (
    <Dialog title={`Delete ${account.cloudAccountName}`} onClose={onClose}>
      <form className="form" onSubmit={(e) => void submit(e)}>
        <p className="t2">Its entities, findings and their history go with it. The identity in the cloud stays; the script unlink.sh ends it.</p>
        <TextField label={`Type ${account.cloudAccountName} to delete it`} value={typed} autoFocus error={error} onChange={(e) => setTyped(e.target.value)} />
        <div className="dialog-foot"><Button onClick={onClose}>Cancel</Button><Button type="submit" look="danger" changes disabled={typed !== account.cloudAccountName}>Delete</Button></div>
      </form>
    </Dialog>
  );
}

/** Name, environment and owner of an account, and its end. */
export function SettingsTab({ account }: { account: Account }) {
  const admin = useMay('admin');
  const client = useQueryClient();
  const [deleting, setDeleting] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const value = (name: string) => String(new FormData(event.currentTarget).get(name) ?? '').trim();
    setError(undefined);
    try {
      await posture.put('/v1/cloud-accounts/{cloud_account_id}', {
        path: { cloud_account_id: account.cloudAccountId },
        etag: account.eTag,
        body: { cloudAccountName: value('name'), environment: value('environment') || null, ownerInfo: value('owner') || value('email') ? { name: value('owner'), email: value('email') } : null },
      });
      await client.invalidateQueries({ queryKey: ['accounts'] });
      say('Saved');
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      setError(cause.status === 412 ? new ApiError(412, 'Somebody changed this account since you opened it. What they saved is shown; enter yours again.') : cause);
      if (cause.status === 412) await client.invalidateQueries({ queryKey: ['accounts'] });
    }
  };
  return (
    <section className="region">
      <form className="form settings-form" key={account.eTag} onSubmit={(e) => void submit(e)}>
        <TextField label="Name" name="name" required defaultValue={account.cloudAccountName} error={error?.field('cloudAccountName') ?? (error && error.fields.length === 0 ? sentence(error.message) : undefined)} />
        <TextField label="Environment" name="environment" defaultValue={account.environment} error={error?.field('environment')} />
        <TextField label="Owner" name="owner" defaultValue={account.ownerInfo?.name} />
        <TextField label="Owner's e-mail" name="email" type="email" defaultValue={account.ownerInfo?.email} error={error?.field('ownerInfo.email')} />
        <div className="row"><Button type="submit" look="primary" changes takes={!admin && 'admin'}>Save</Button><Button className="end" look="danger" changes takes={!admin && 'admin'} onClick={() => setDeleting(true)}>Delete the account</Button></div>
      </form>
      {deleting && <DeleteDialog account={account} onClose={() => setDeleting(false)} />}
    </section>
  );
}
