import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { posture, type Account } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { choiceOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { CopyButton } from '../../parts/Copy';
import { useKeys } from '../../parts/keys';
import { Mark, ProviderMark, providerName } from '../../parts/marks';
import { Answer, Empty } from '../../parts/states';
import { count, sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { runsQuery } from '../data';
import { accountMark, nextStep } from './accountMarks';
import { CredentialTab } from './CredentialTab';
import { RunDetail } from './RunDetail';
import { RunWord } from './RunSquares';
import { SettingsTab } from './SettingsTab';
import { StreamTab } from './StreamTab';
import { useCollect } from './useRun';
import './accounts.css';

const tabs = { runs: 'Runs', stream: 'Stream', credential: 'Credential', settings: 'Settings' } as const;
type Tab = keyof typeof tabs;

function Runs({ account }: { account: Account }) {
  const { search, change } = useAddress();
  const query = useQuery({
    ...runsQuery(account.cloudAccountId),
    refetchInterval: (q) => (q.state.data?.some((r) => r.status === 'Started') ? 2000 : false),
  });
  return (
    <Answer query={query} what="the runs" padded>
      {(runs) => {
        if (runs.length === 0)
          return (
            <Empty padded title="This account was not read yet">
              It is read as soon as its credential is accepted.
            </Empty>
          );
        const chosen = search.run ?? runs[0]?.collectionId ?? '';
        return (
          <div className="cols account-runs">
            <div className="table-scroll">
              <table className="table">
                <thead>
                  <tr>
                    <th>Started</th>
                    <th>Status</th>
                    <th className="num">Entities</th>
                  </tr>
                </thead>
                <tbody>
                  {runs.map((r) => (
                    <tr key={r.collectionId} className={r.collectionId === chosen ? 'on' : ''}>
                      <td>
                        <button type="button" className="link" onClick={() => change({ run: r.collectionId })}>
                          <Time at={r.startTime} as="date" />
                        </button>
                      </td>
                      <td>
                        <RunWord run={r} />
                      </td>
                      <td className="num">{count(r.progress.entities)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <section className="region">
              <RunDetail cloudAccountId={account.cloudAccountId} collectionId={chosen} />
            </section>
          </div>
        );
      }}
    </Answer>
  );
}

/** A button that makes the server check again whether the cloud accepts the credential. */
function CheckCredential({ account: a }: { account: Account }) {
  const refused = useRefusal('admin', 'accounts');
  const client = useQueryClient();
  const run = () =>
    posture.post('/v1/cloud-accounts/{cloud_account_id}/validation', { path: { cloud_account_id: a.cloudAccountId } }).then(
      () => {
        showToast('Checking the credential');
        void client.invalidateQueries({ queryKey: ['accounts'] });
      },
      (cause: unknown) => showToast(failureText(cause)),
    );
  return (
    <Button className="end" writes refused={refused} onClick={() => void run()}>
      Check the credential now
    </Button>
  );
}

function Head({ account: a }: { account: Account }) {
  const { mark, word } = accountMark(a);
  const step = nextStep[a.accountStatus.value];
  return (
    <div className="region account-head">
      <div className="row">
        <ProviderMark provider={a.provider} />
        <h2 className="drawer-title">{a.cloudAccountName}</h2>
        <span className={`word c-${mark}`}>
          <Mark name={mark} />
          {word}
        </span>
      </div>
      <dl className="meta">
        <div>
          <dt>Id</dt>
          <dd>
            <code>{a.cloudAccountId}</code>
            <CopyButton text={a.cloudAccountId} label="Copy account id" />
          </dd>
        </div>
        <div>
          <dt>Cloud</dt>
          <dd>{providerName(a.provider)}</dd>
        </div>
        {a.environment && (
          <div>
            <dt>Environment</dt>
            <dd>{a.environment}</dd>
          </div>
        )}
        <div>
          <dt>Linked</dt>
          <dd>
            <Time at={a.createdTime} as="date" />
          </dd>
        </div>
        {a.nextCollectionTime && (
          <div>
            <dt>Next read</dt>
            <dd>
              <Time at={a.nextCollectionTime} />
            </dd>
          </div>
        )}
        <div>
          <dt>Events</dt>
          <dd>{a.eventStreamStatus.value}</dd>
        </div>
      </dl>
      {step && (
        <div className="note error">
          <Mark name={mark} />
          <span>
            <b>{sentence(a.accountStatus.reason ?? word)}</b> {step}{' '}
            <Link className="inline-link" to={`/accounts/link/${a.provider}/access`}>
              Fix access
            </Link>
          </span>
          <CheckCredential account={a} />
        </div>
      )}
    </div>
  );
}

/** One account: its runs, stream, credential and settings. */
export default function AccountPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { search, change } = useAddress();
  const refused = useRefusal('analyst', 'accounts');
  const { start } = useCollect();
  const [deleting, setDeleting] = useState(false); // while the account is being deleted, nothing requests it again
  const query = useQuery({
    queryKey: ['accounts', id],
    queryFn: ({ signal }) => posture.get('/v1/cloud-accounts/{cloud_account_id}', { path: { cloud_account_id: id }, signal }),
    refetchInterval: 10_000,
    gcTime: 0, // the tab Settings keeps the first answer that it gets, which must not be one from an earlier visit
    enabled: !deleting,
  });
  const read = async () => {
    const run = await start(id);
    if (run) change({ tab: undefined, run: run.collectionId });
  };
  useKeys([{ keys: 'r', does: 'Read now', run: () => !refused && void read() }]);
  const tab: Tab = choiceOf(tabs, search.tab, 'runs');
  return (
    <Page
      title={query.data?.cloudAccountName ?? id}
      crumbs={<Link to="/accounts">Accounts</Link>}
      actions={
        <>
          <Link className="btn wide" to="/findings" search={{ account: id } as never}>
            Findings
          </Link>
          <Button icon="history" writes refused={refused} onClick={() => void read()}>
            Read now
          </Button>
        </>
      }
    >
      <Answer query={query} what="the account" padded>
        {(account) => (
          <>
            <Head account={account} />
            <nav className="tabs" aria-label="Account">
              {(Object.keys(tabs) as Tab[]).map((t) => (
                <Link
                  key={t}
                  to="."
                  search={{ tab: t === 'runs' ? undefined : t } as never}
                  activeOptions={{ exact: true }} // else the first link, which has no search parameters, is always marked active
                  aria-current={t === tab ? 'true' : undefined}
                >
                  {tabs[t]}
                </Link>
              ))}
            </nav>
            {tab === 'runs' && <Runs account={account} />}
            {tab === 'stream' && <StreamTab account={account} />}
            {tab === 'credential' && <CredentialTab account={account} />}
            {tab === 'settings' && <SettingsTab account={account} isBeingDeleted={deleting} setIsBeingDeleted={setDeleting} />}
          </>
        )}
      </Answer>
    </Page>
  );
}
