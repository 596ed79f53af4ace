import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { posture, type Provider } from '../../api/posture';
import { Button } from '../../parts/Button';
import { Mark } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { sentence } from '../../parts/text';
import { accountMark, nextStep } from '../accounts/accountMarks';
import { RunDetail } from '../accounts/RunDetail';
import { ScriptBox } from '../accounts/ScriptBox';
import { useCollect } from '../accounts/useRun';
import { accountsQuery, runsQuery } from '../data';

/** Shows the script that links accounts, and lists all linked accounts of the cloud, so that new ones appear. */
export function ByScript({ provider, onChosen }: { provider: Provider; onChosen: (id: string) => void }) {
  const [ids, setIds] = useState('');
  const accounts = useQuery({ ...accountsQuery, refetchInterval: 2000 }).data ?? [];
  const own = accounts.filter((a) => a.provider === provider);
  const list = ids.split(/[\s,]+/).filter(Boolean);
  return (
    <>
      <label className="field settings-form">
        <span className="label">Accounts, separated by commas</span>
        <input
          className="input mono"
          value={ids}
          onChange={(e) => setIds(e.target.value)}
          placeholder="Left empty, the script asks for them"
        />
      </label>
      <ScriptBox
        provider={provider}
        script="link.sh"
        accounts={list}
        title="Run this where you are logged in to the cloud"
        undo="unlink.sh"
      />
      <div className="stack">
        <h3 className="label">Linked accounts of this cloud; new ones appear here</h3>
        <ul className="list">
          {own.map((a) => (
            <li key={a.cloudAccountId}>
              <Mark name={accountMark(a).mark} />
              <span className="grow cut">{a.cloudAccountName}</span>
              <span className="t3">{accountMark(a).word}</span>
              <Button onClick={() => onChosen(a.cloudAccountId)}>Go on</Button>
            </li>
          ))}
        </ul>
      </div>
    </>
  );
}

/** Shows whether the cloud accepts the credential. It is polled every two seconds until it does. */
export function StatusStep({ id, provider, onNext }: { id: string; provider: Provider; onNext: () => void }) {
  const query = useQuery({
    queryKey: ['accounts', id],
    queryFn: () => posture.get('/v1/cloud-accounts/{cloud_account_id}', { path: { cloud_account_id: id } }),
    refetchInterval: (q) => (q.state.data?.accountStatus.value === 'active' ? false : 2000),
  });
  return (
    <Answer query={query} what="the account">
      {(account) => {
        const { mark, word } = accountMark(account);
        const active = account.accountStatus.value === 'active';
        return (
          <>
            <h2>
              {active
                ? `${account.cloudAccountName} can be read`
                : account.accountStatus.value === 'draft'
                  ? 'Checking the credential'
                  : `${account.cloudAccountName} cannot be read`}
            </h2>
            <p className="row" aria-live="polite">
              <span className={`word c-${mark}`}>
                <Mark name={mark} />
                {word}
              </span>
            </p>
            {account.accountStatus.reason && <p className="t2">{sentence(account.accountStatus.reason)}</p>}
            {!active && account.accountStatus.value !== 'draft' && <p>{nextStep[account.accountStatus.value]}</p>}
            <div className="row">
              {active ? (
                <Button look="primary" onClick={onNext}>
                  Go on
                </Button>
              ) : (
                <>
                  <Link className="btn" to={`/accounts/link/${provider}/access`}>
                    Change the credential
                  </Link>
                  <Button look="quiet" onClick={onNext}>
                    Go on without
                  </Button>
                </>
              )}
            </div>
          </>
        );
      }}
    </Answer>
  );
}

export function StreamStep({ id, provider, onNext }: { id: string; provider: Provider; onNext: () => void }) {
  const account = useQuery({
    queryKey: ['accounts', id],
    queryFn: () => posture.get('/v1/cloud-accounts/{cloud_account_id}', { path: { cloud_account_id: id } }),
    refetchInterval: 3000,
  });
  const connected = account.data?.eventStreamStatus.value === 'connected';
  return (
    <>
      <h2>Receive changes as they happen</h2>
      <p className="t2">With an event stream a change shows within seconds. Without it, with the next full read. It can be set up later.</p>
      <p aria-live="polite">
        <span className={`word c-${connected ? 'ok' : 'unknown'}`}>
          <Mark name={connected ? 'ok' : 'unknown'} />
          {connected ? 'Events arrive' : 'No event yet'}
        </span>
      </p>
      <ScriptBox
        provider={provider}
        script="setup.sh"
        accounts={[id]}
        title="Run this where you are logged in to the cloud"
        undo="teardown.sh"
      />
      <div className="row">
        <Button look="primary" onClick={onNext}>
          {connected ? 'Go on' : 'Later'}
        </Button>
      </div>
    </>
  );
}

/** The first run, with its progress. */
export function RunStep({ id }: { id: string }) {
  const runs = useQuery({ ...runsQuery(id), refetchInterval: 2000 });
  const { start } = useCollect();
  const newest = runs.data?.[0];
  return (
    <>
      <h2>First read</h2>
      <Answer query={runs} what="the runs">
        {() =>
          newest ? (
            <RunDetail cloudAccountId={id} collectionId={newest.collectionId} />
          ) : (
            <div className="stack">
              <p className="t2">No collection has started yet. The first starts soon after the credential is accepted.</p>
              <div className="row">
                <Button writes onClick={() => void start(id)}>
                  Read now
                </Button>
              </div>
            </div>
          )
        }
      </Answer>
      {newest && newest.status !== 'Started' && (
        <div className="row">
          <Link className="btn primary" to="/findings" search={{ account: id } as never}>
            See its findings
          </Link>
          <Link className="btn" to={`/accounts/${encodeURIComponent(id)}`}>
            The account
          </Link>
        </div>
      )}
    </>
  );
}
