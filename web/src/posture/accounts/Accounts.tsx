import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { posture, type Account } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { choiceOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { useKeys } from '../../parts/keys';
import { Mark, ProviderMark } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, plural, sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { accountsQuery, findingsQuery, open, runsQuery, unreadQuery } from '../data';
import { accountMark, hasProblem } from './accountMarks';
import { PlanDialog } from './PlanDialog';
import { runsOf, type RunSummary } from './runs';
import { RunSquares } from './RunSquares';
import { inWords, planQuery } from './schedule';
import { useCollect } from './useRun';
import './accounts.css';

const useEntityCounts = () =>
  useQuery({
    queryKey: ['entities', 'by-account'],
    queryFn: () =>
      posture.post('/v1/entities/aggregations-query', {
        body: { aggregations: { account: { fieldName: 'cloudAccountId', aggregationType: 'Terms', termsCount: 1000 } } },
      }),
  }).data?.aggregations.account?.buckets ?? {};

const useFindingCounts = () =>
  useQuery(
    findingsQuery({
      filters: open,
      aggregations: { account: { fieldName: 'cloudAccountId', termsCount: 1000 } },
      paginationInfo: { pageSize: 1 },
    }),
  ).data?.aggregations?.account?.buckets ?? {};

interface RowProps {
  account: Account;
  runs: RunSummary[];
  /** How many of its types were not read in full. */
  unread: number;
  entities: number;
  findings: number;
}

function Row({ account: a, runs, unread, entities, findings }: RowProps) {
  const { mark, word } = accountMark(a);
  const stream = a.eventStreamStatus.value === 'connected';
  const last = runs[0];
  return (
    <tr data-account={a.cloudAccountId}>
      <th scope="row">
        <Link className="row account-link" to={`/accounts/${encodeURIComponent(a.cloudAccountId)}`}>
          <ProviderMark provider={a.provider} />
          <span className="account-names">
            <span>{a.cloudAccountName}</span>
            <span className="small t3 wide">{a.cloudAccountId}</span>
          </span>
        </Link>
      </th>
      <td>
        <span className={`word c-${mark}`}>
          <Mark name={mark} />
          {word}
        </span>
        {a.accountStatus.reason && (
          <span className="small t3 block cut reason" title={a.accountStatus.reason}>
            {sentence(a.accountStatus.reason)}
          </span>
        )}
        {!a.accountStatus.reason && unread > 0 && <span className="small t3 block">{plural(unread, 'type')} not read in full</span>}
      </td>
      <td className="wide">
        <span className={`word c-${stream ? 'ok' : 'none'}`}>
          <Mark name={stream ? 'ok' : 'none'} />
          {stream ? 'Connected' : 'No events'}
        </span>
      </td>
      <td className="wide">
        <RunSquares runs={runs} />
      </td>
      <td className="wide t2">
        {last ? (
          last.status === 'Started' ? (
            `reading, ${last.progress.done} of ${last.progress.total}`
          ) : (
            <Time at={last.endTime ?? last.startTime} />
          )
        ) : (
          '–'
        )}
      </td>
      <td className="wide roomy t2">{a.nextCollectionTime ? <Time at={a.nextCollectionTime} /> : '–'}</td>
      <td className="num">
        <Link to="/inventory" search={{ account: a.cloudAccountId } as never}>
          {count(entities)}
        </Link>
      </td>
      <td className="num">
        <Link to="/findings" search={{ account: a.cloudAccountId } as never}>
          {count(findings)}
        </Link>
      </td>
    </tr>
  );
}

const kinds = { all: 'All', error: 'With a problem', aws: 'AWS', azure: 'Azure', gcp: 'Google Cloud' } as const;
type Kind = keyof typeof kinds;
const fits = (a: Account, kind: Kind, text: string) =>
  (kind === 'all' || (kind === 'error' ? hasProblem(a) : a.provider === kind)) &&
  `${a.cloudAccountName} ${a.cloudAccountId}`.toLowerCase().includes(text.toLowerCase());

/** The linked accounts, and whether they are read completely. */
export default function Accounts() {
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const refused = useRefusal('admin', 'accounts');
  const accounts = useQuery(accountsQuery);
  const runs = useQuery({
    ...runsQuery(undefined, 500),
    refetchInterval: (q) => (q.state.data?.some((r) => r.status === 'Started') ? 2000 : false),
  });
  const unread = useQuery(unreadQuery()).data ?? [];
  const entities = useEntityCounts();
  const findings = useFindingCounts();
  const link = () => void navigate({ to: '/accounts/link' } as never);
  const kind: Kind = choiceOf(kinds, search.status, 'all');
  const plan = useQuery(planQuery).data;
  const mayNotRead = useRefusal('analyst', 'accounts');
  const { start } = useCollect();
  const readFocused = () => {
    const id = document.activeElement?.closest<HTMLElement>('[data-account]')?.dataset.account;
    if (id && !mayNotRead) void start(id);
  };
  useKeys([
    { keys: 'l', does: 'Link an account', run: link },
    { keys: 'r', does: 'Read the account of the row now', run: readFocused },
  ]);
  return (
    <Page
      title="Accounts"
      actions={
        <Button look="primary" icon="plus" refused={refused} onClick={link}>
          Link an account
        </Button>
      }
    >
      <Answer query={accounts} what="the accounts" padded>
        {(all) => {
          if (all.length === 0)
            return (
              <Empty
                padded
                title="No account is linked"
                action={
                  <Link className="btn primary" to="/accounts/link">
                    Link an account
                  </Link>
                }
              >
                Vigil reads AWS, Azure and Google Cloud with an identity you make for it. Linking one takes about five minutes.
              </Empty>
            );
          const shown = all.filter((a) => fits(a, kind, search.q ?? ''));
          return (
            <>
              <div className="toolbar">
                <SearchInput label="Search accounts" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
                <Segments<Kind>
                  label="Accounts"
                  value={kind}
                  onChange={(k) => change({ status: k === 'all' ? undefined : k })}
                  options={(Object.keys(kinds) as Kind[]).map((k) => ({
                    value: k,
                    label: kinds[k],
                    count: all.filter((a) => fits(a, k, '')).length,
                  }))}
                />
                <Button className="end" icon="history" onClick={() => change({ plan: 'edit' })}>
                  Schedule{plan && `: ${inWords(plan)}`}
                </Button>
              </div>
              {shown.length === 0 ? (
                <Empty
                  padded
                  title="No account matches"
                  action={<Button onClick={() => change({ q: undefined, status: undefined })}>Clear all</Button>}
                />
              ) : (
                <div className="table-scroll">
                  <table className="table">
                    <thead>
                      <tr>
                        <th>Account</th>
                        <th>Status</th>
                        <th className="wide">Events</th>
                        <th className="wide">Runs</th>
                        <th className="wide">Last read</th>
                        <th className="wide roomy">Next</th>
                        <th className="num">Entities</th>
                        <th className="num">Findings</th>
                      </tr>
                    </thead>
                    <tbody>
                      {shown.map((a) => (
                        <Row
                          key={a.cloudAccountId}
                          account={a}
                          runs={runsOf(a, runs.data ?? [])}
                          unread={unread.filter((u) => u.cloudAccountId === a.cloudAccountId).length}
                          entities={entities[a.cloudAccountId]?.count ?? 0}
                          findings={findings[a.cloudAccountId]?.count ?? 0}
                        />
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
            </>
          );
        }}
      </Answer>
      {search.plan && <PlanDialog onClose={() => change({ plan: undefined })} />}
    </Page>
  );
}
