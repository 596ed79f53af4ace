import { useState, type FormEvent } from 'react';
import { ApiError, type FieldError } from '../../api/error';
import type { Provider } from '../../api/posture';
import { Button } from '../../parts/Button';
import { TextArea, TextField } from '../../parts/Field';
import { Mark } from '../../parts/marks';
import { sentence } from '../../parts/text';
import { specs, type FieldSpec } from './fields';
import { linkAccount } from './link';

function Input({ spec, error }: { spec: FieldSpec; error?: string | undefined }) {
  const common = { label: spec.label, name: spec.name, required: !spec.optional, hint: spec.hint, error };
  return spec.file ? (
    <TextArea {...common} rows={5} spellCheck={false} autoComplete="off" />
  ) : (
    <TextField {...common} type={spec.secret ? 'password' : 'text'} autoComplete="off" mono />
  );
}

export const CredentialInputs = ({ provider, errorOf }: { provider: Provider; errorOf: (name: string) => string | undefined }) => (
  <>
    {specs[provider].credential.map((spec) => (
      <Input key={spec.name} spec={spec} error={errorOf(spec.name)} />
    ))}
  </>
);

export const readCredential = (provider: Provider, form: FormData) =>
  Object.fromEntries(specs[provider].credential.map((f) => [f.name, String(form.get(f.name) ?? '')]));

/** The error of one input. If the path of an error has an index instead of the name of the input, the name is in the message. */
const about = (fields: FieldError[], name: string) => fields.find((f) => f.path.includes(name) || f.message.includes(name))?.message;

/** Links an account with a credential that was made by hand. */
export function ByHand({ provider, onLinked }: { provider: Provider; onLinked: (id: string) => void }) {
  const spec = specs[provider];
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const accountId = String(form.get(spec.account.name)).trim();
    setBusy(true);
    setError(undefined);
    try {
      await linkAccount({ provider, name: String(form.get('name')).trim(), accountId, credential: readCredential(provider, form) });
      onLinked(accountId);
    } catch (cause) {
      if (cause instanceof ApiError) setError(cause);
      else throw cause;
    } finally {
      setBusy(false);
    }
  };
  const errorOf = (name: string) => (error ? about(error.fields, name) : undefined);
  const isShownBesideInput = [spec.account.name, 'cloudAccountName', ...spec.credential.map((f) => f.name)].some(errorOf);
  return (
    <form className="form settings-form" onSubmit={(e) => void submit(e)}>
      <TextField label="Name" name="name" required hint="The name of the account in the console" error={errorOf('cloudAccountName')} />
      <Input spec={spec.account} error={errorOf(spec.account.name)} />
      <CredentialInputs provider={provider} errorOf={errorOf} />
      {error && !isShownBesideInput && (
        <div className="note error" role="alert">
          <Mark name="error" />
          <span>
            <b>{sentence(error.message)}</b> {error.fields.map((f) => `${f.path}: ${f.message}`).join('; ')}
          </span>
        </div>
      )}
      <div className="row">
        <Button type="submit" look="primary" writes disabled={busy}>
          Link the account
        </Button>
      </div>
    </form>
  );
}
