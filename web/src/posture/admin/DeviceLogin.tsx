import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { posture } from '../../api/posture';
import { sessionQuery } from '../../api/session';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { TextField } from '../../parts/Field';
import { Answer } from '../../parts/states';
import { Time } from '../../parts/time';

function EnterCode({ onCode }: { onCode: (code: string) => void }) {
  const [code, setCode] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (code.trim()) onCode(code.trim());
  };
  return (
    <section className="region">
      <form className="form settings-form" onSubmit={submit}>
        <TextField label="Code" mono value={code} autoFocus placeholder="BCDF-GHJK" onChange={(e) => setCode(e.target.value)} />
        <div className="row">
          <Button type="submit" look="primary">
            Go on
          </Button>
        </div>
      </form>
    </section>
  );
}

function Decide({ code }: { code: string }) {
  const client = useQueryClient();
  const me = useQuery(sessionQuery).data;
  const [error, setError] = useState<string>();
  const key = ['device-login', code];
  const query = useQuery({
    queryKey: key,
    queryFn: () => posture.get('/console/device-logins/{user_code}', { path: { user_code: code } }),
    retry: false,
  });
  const decide = async (approve: boolean) => {
    setError(undefined);
    try {
      client.setQueryData(key, await posture.post('/console/device-logins/{user_code}', { path: { user_code: code }, body: { approve } }));
    } catch (cause) {
      setError(failureText(cause));
    }
  };
  return (
    <Answer query={query} what="the login" padded>
      {(login) => (
        <section className="region">
          <div className="form settings-form">
            <dl className="meta">
              <div>
                <dt>Code</dt>
                <dd>
                  <code>{login.userCode}</code>
                </dd>
              </div>
              <div>
                <dt>Program</dt>
                <dd>{login.clientName}</dd>
              </div>
              <div>
                <dt>Address</dt>
                <dd>{login.sourceAddress}</dd>
              </div>
              <div>
                <dt>Started</dt>
                <dd>
                  <Time at={login.createdTime} />
                </dd>
              </div>
            </dl>
            {login.state === 'pending' ? (
              <>
                <p>
                  Confirm only if you started this login yourself and your terminal shows the same code. The program then acts as{' '}
                  {me?.userName} with the role {me?.role}.
                </p>
                {error && (
                  <p className="field-error" role="alert">
                    {error}
                  </p>
                )}
                <div className="row">
                  <Button look="primary" writes onClick={() => void decide(true)}>
                    Confirm
                  </Button>
                  <Button writes onClick={() => void decide(false)}>
                    Refuse
                  </Button>
                </div>
              </>
            ) : (
              <p role="status">
                {login.state === 'approved'
                  ? 'The program is logged in. You can close this page; an admin can revoke its token under Admin, Tokens.'
                  : 'The login was refused.'}
              </p>
            )}
          </div>
        </section>
      )}
    </Answer>
  );
}

/** Confirms the code of a program that logs in, such as the command line. */
export default function DeviceLogin() {
  const { search, change } = useAddress();
  return (
    <Page title="Log in a program">
      {search.code ? <Decide code={search.code} /> : <EnterCode onCode={(code) => change({ code }, { push: true })} />}
    </Page>
  );
}
