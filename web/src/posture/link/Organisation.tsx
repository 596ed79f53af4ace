import { failureText } from '../../parts/failure';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { ApiError } from '../../api/error';
import type { Provider } from '../../api/posture';
import { Button } from '../../parts/Button';
import { Checkbox } from '../../parts/Field';
import { Mark, type MarkName } from '../../parts/marks';
import { plural, sentence } from '../../parts/text';
import { useQuery } from '@tanstack/react-query';
import { accountsQuery } from '../data';
import { CredentialInputs, readCredential } from './ByHand';
import { discover, linkMany, memberCredential } from './link';

type Member = Awaited<ReturnType<typeof discover>>[number];

/** Finds the accounts of an organisation and links those that are chosen, with a result for each. */
export function Organisation({ provider, onLinked }: { provider: Provider; onLinked: (id: string) => void }) {
  const client = useQueryClient();
  const linked = new Set(useQuery(accountsQuery).data?.map((a) => a.cloudAccountId));
  const [credential, setCredential] = useState<Record<string, string>>();
  const [members, setMembers] = useState<Member[]>();
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [results, setResults] = useState<Map<string, string>>(new Map());
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const attempt = async (what: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await what();
    } catch (cause) {
      setError(
        cause instanceof ApiError ? sentence([cause.message, ...cause.fields.map((f) => f.message)].join('; ')) : failureText(cause),
      );
    } finally {
      setBusy(false);
    }
  };
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = readCredential(provider, new FormData(event.currentTarget));
    return attempt(async () => {
      const found = await discover(provider, given);
      setCredential(given);
      setMembers(found);
      setChosen(
        new Set(
          found
            .filter((m) => !linked.has(m.id))
            .slice(0, 100)
            .map((m) => m.id),
        ),
      );
    });
  };
  const link = () =>
    attempt(async () => {
      const wanted = (members ?? []).filter((m) => chosen.has(m.id) && !linked.has(m.id));
      for (const member of wanted) {
        const outcome = await linkMany(provider, [member], (m) => memberCredential(provider, credential ?? {}, m.id)).then(
          () => 'linked',
          (cause: unknown) => (cause instanceof ApiError ? sentence(cause.message) : 'failed'),
        );
        setResults((before) => new Map(before).set(member.id, outcome));
      }
      await client.invalidateQueries({ queryKey: ['accounts'] });
    });
  const first = [...results].find(([, outcome]) => outcome === 'linked')?.[0]; // the next step is about one account that is linked
  const toggle = (id: string) => setChosen((before) => new Set(before.has(id) ? [...before].filter((v) => v !== id) : [...before, id]));
  const markOf = (id: string): MarkName | undefined =>
    results.get(id) === 'linked' || linked.has(id) ? 'ok' : results.has(id) ? 'error' : undefined;
  return (
    <>
      <form className="form settings-form" onSubmit={(e) => void search(e)}>
        <CredentialInputs provider={provider} errorOf={() => undefined} />
        <div className="row">
          <Button type="submit" writes disabled={busy}>
            Find accounts
          </Button>
        </div>
      </form>
      {error && (
        <div className="note error" role="alert">
          <Mark name="error" />
          <span>{error}</span>
        </div>
      )}
      {members && (
        <>
          <div className="table-scroll">
            <table className="table">
              <thead>
                <tr>
                  <th>Account</th>
                  <th>Id</th>
                  <th>State</th>
                  <th>Result</th>
                </tr>
              </thead>
              <tbody>
                {members.map((m) => {
                  const mark = markOf(m.id);
                  return (
                    <tr key={m.id}>
                      <td>
                        <Checkbox
                          label={m.name || m.id}
                          checked={chosen.has(m.id)}
                          disabled={linked.has(m.id)}
                          onChange={() => toggle(m.id)}
                        />
                      </td>
                      <td>
                        <code>{m.id}</code>
                      </td>
                      <td>{m.state.toLowerCase()}</td>
                      <td>
                        {mark && (
                          <span className={`word c-${mark}`}>
                            <Mark name={mark} />
                            {results.get(m.id) ?? 'linked before'}
                          </span>
                        )}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
          <div className="row">
            <Button look="primary" writes disabled={busy || chosen.size === 0} onClick={() => void link()}>
              Link {plural(chosen.size, 'account')}
            </Button>
            {first !== undefined && <Button onClick={() => onLinked(first)}>Go on</Button>}
          </div>
        </>
      )}
    </>
  );
}
