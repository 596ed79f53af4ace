import { failureText } from '../../parts/failure';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Account } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { Button } from '../../parts/Button';
import { Conflict, differencesOf } from '../../parts/Conflict';
import { Dialog } from '../../parts/Dialog';
import { TextField } from '../../parts/Field';
import { sentence } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { useSubmit } from '../../parts/useSubmit';
import { CollectionForm } from './CollectionForm';

function DeleteDialog({
  account,
  setIsBeingDeleted,
  onClose,
}: {
  account: Account;
  setIsBeingDeleted: (is: boolean) => void;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { submit, busy } = useSubmit(async () => {
    setIsBeingDeleted(true);
    await client.cancelQueries({ queryKey: ['accounts', account.cloudAccountId] }); // they would find nothing after the deletion
    try {
      await posture.delete('/v1/providers/{provider}/cloud-accounts/{cloud_account_id}', {
        path: { provider: account.provider, cloud_account_id: account.cloudAccountId },
      });
      showToast(`${account.cloudAccountName} is deleted`);
      await navigate({ to: '/accounts' } as never); // first, so that nothing reads the deleted account again
      await client.invalidateQueries({ queryKey: ['accounts'] });
    } catch (cause) {
      setIsBeingDeleted(false);
      setError(failureText(cause));
    }
  });
  return (
    <Dialog title={`Delete ${account.cloudAccountName}`} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p className="t2">
          Its entities, its findings and their history are deleted too. The identity in the cloud stays; the script unlink.sh removes it.
        </p>
        <TextField
          label={`Type ${account.cloudAccountName} to delete it`}
          value={typed}
          autoFocus
          error={error}
          onChange={(e) => setTyped(e.target.value)}
        />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" writes disabled={busy || typed !== account.cloudAccountName}>
            Delete
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface Body {
  cloudAccountName: string;
  environment: string | null;
  ownerInfo: { name: string; email: string } | null;
}

/** Changes the name, environment, owner and collection settings of an account, and deletes it. */
export function SettingsTab({
  account,
  isBeingDeleted,
  setIsBeingDeleted,
}: {
  account: Account;
  isBeingDeleted: boolean;
  setIsBeingDeleted: (is: boolean) => void;
}) {
  const refused = useRefusal('admin', 'accounts');
  const client = useQueryClient();
  const [confirming, setConfirming] = useState(false); // the dialog that confirms the deletion is open
  // The version that the form was filled from. If somebody else saves another one meanwhile, saving is a conflict.
  const [opened, setOpened] = useState(account);
  const [error, setError] = useState<ApiError>();
  const [conflict, setConflict] = useState<{ body: Body; theirs: Account }>();
  const save = async (body: Body, etag: string) => {
    setError(undefined);
    try {
      await posture.put('/v1/cloud-accounts/{cloud_account_id}', { path: { cloud_account_id: account.cloudAccountId }, etag, body });
      await client.invalidateQueries({ queryKey: ['accounts'] });
      setOpened(await posture.get('/v1/cloud-accounts/{cloud_account_id}', { path: { cloud_account_id: account.cloudAccountId } }));
      showToast('Saved');
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      if (cause.status === 412)
        setConflict({
          body,
          theirs: await posture.get('/v1/cloud-accounts/{cloud_account_id}', { path: { cloud_account_id: account.cloudAccountId } }),
        });
      else setError(cause);
    }
  };
  const { submit, busy } = useSubmit((element) => {
    const form = new FormData(element);
    const value = (name: string) => String(form.get(name) ?? '').trim();
    return save(
      {
        cloudAccountName: value('name'),
        environment: value('environment') || null,
        ownerInfo: value('owner') || value('email') ? { name: value('owner'), email: value('email') } : null,
      },
      opened.eTag,
    );
  });
  const flat = (a: { cloudAccountName: string; environment?: string | null; ownerInfo?: { name?: string; email?: string } | null }) => ({
    name: a.cloudAccountName,
    environment: a.environment ?? '',
    owner: a.ownerInfo?.name ?? '',
    email: a.ownerInfo?.email ?? '',
  });
  return (
    <section className="region">
      <form className="form settings-form" key={opened.eTag} onSubmit={submit}>
        <TextField
          label="Name"
          name="name"
          required
          defaultValue={opened.cloudAccountName}
          error={error?.field('cloudAccountName') ?? (error && error.fields.length === 0 ? sentence(error.message) : undefined)}
        />
        <TextField label="Environment" name="environment" defaultValue={opened.environment} error={error?.field('environment')} />
        <TextField label="Owner" name="owner" defaultValue={opened.ownerInfo?.name} />
        <TextField
          label="Owner's e-mail"
          name="email"
          type="email"
          defaultValue={opened.ownerInfo?.email}
          error={error?.field('ownerInfo.email')}
        />
        <div className="row">
          <Button type="submit" look="primary" writes refused={refused} disabled={busy}>
            Save
          </Button>
          <Link className="btn quiet" to="/admin/audit" search={{ target: account.cloudAccountId } as never}>
            Audit
          </Link>
          <Button className="end" look="danger" writes refused={refused} onClick={() => setConfirming(true)}>
            Delete the account
          </Button>
        </div>
      </form>
      <CollectionForm account={account} isBeingDeleted={isBeingDeleted} />
      {conflict && (
        <Conflict
          what="the account"
          differences={differencesOf(
            { name: 'Name', environment: 'Environment', owner: 'Owner', email: "Owner's e-mail" },
            flat(conflict.body),
            flat(conflict.theirs),
          )}
          onClose={() => setConflict(undefined)}
          onTheirs={() => {
            setOpened(conflict.theirs);
            setConflict(undefined);
          }}
          onMine={() => {
            setConflict(undefined);
            void save(conflict.body, conflict.theirs.eTag);
          }}
        />
      )}
      {confirming && <DeleteDialog account={account} setIsBeingDeleted={setIsBeingDeleted} onClose={() => setConfirming(false)} />}
    </section>
  );
}
