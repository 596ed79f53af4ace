import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { choiceOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Icon } from '../../parts/Icon';
import { useKeys } from '../../parts/keys';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, plural } from '../../parts/text';
import { accountsQuery, ruleCountQuery, unreadQuery } from '../data';
import { Coverage } from './Coverage';
import { Ledger, type Figure } from './Ledger';
import { AccountCounts, Riskiest, TopRules } from './lists';
import { largestJump } from './jump';
import { Today, todayTitle } from './Today';
import { TrendChart } from './TrendChart';
import { unknownText } from './unknown';
import { levels, ranges, useOpenFindings, useTrend, useVerdicts, weekChange, type Range, type Series } from './useOverview';
import type { FindingPage, Verdicts } from '../../api/posture';
import './overview.css';

const signed = (n: number | undefined) => (n === undefined ? ' ' : `${n > 0 ? '+' : n < 0 ? '−' : '±'}${count(Math.abs(n))} in 7 days`);

function figures(
  page: FindingPage | undefined,
  series: Series | undefined,
  verdicts: Verdicts | undefined,
  account: string | undefined,
): Figure[] {
  const unknown = verdicts?.results.reduce((n, v) => n + v.unknown, 0);
  const critical =
    page &&
    Object.entries(page.aggregations?.risk?.buckets ?? {}).reduce((sum, [score, b]) => sum + (Number(score) >= 90 ? b.count : 0), 0);
  const search = account ? { account } : {};
  return [
    {
      label: 'Open',
      value: page?.totalCount,
      to: '/findings',
      search,
      detail: series ? <Today raised={series.raised.at(-1) ?? 0} resolved={series.resolved.at(-1) ?? 0} /> : ' ',
      title: series && todayTitle,
    },
    {
      label: 'Critical risk',
      mark: 'critical',
      value: critical,
      to: '/findings',
      search: { ...search, risk: '90' },
      detail: 'score 90 and more',
    },
    ...levels.toReversed().map(({ level, name }): Figure => ({
      label: level,
      mark: name,
      value: page ? (page.aggregations?.level?.buckets[level]?.count ?? 0) : undefined,
      to: '/findings',
      search: { ...search, level },
      detail: signed(weekChange(series, name)),
    })),
    {
      label: 'Unknown',
      mark: 'unknown',
      value: unknown,
      // Without unknown verdicts the list of rules would be empty; accounts with problems are shown instead.
      ...(unknown === 0 ? { to: '/accounts', search: { status: 'error' } } : { to: '/rules', search: { unknown: 'yes' } }),
      detail: verdicts ? unknownText(verdicts) : ' ',
    },
  ];
}

/** The open findings with their trend, and how completely the accounts were read. */
export default function Overview() {
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const account = search.account;
  const range: Range = choiceOf(ranges, search.range, '30d');
  const accounts = useQuery(accountsQuery);
  const covered = (accounts.data ?? []).filter((a) => !account || a.cloudAccountId === account);
  const unread = useQuery(unreadQuery(account));
  const rules = useQuery(ruleCountQuery).data;
  const findings = useOpenFindings(account);
  const trend = useTrend(range, account);
  const verdicts = useVerdicts(account);
  // Only this range has steps of a day, which "today" and "in 7 days" need.
  const row = figures(findings.data, range === '30d' ? trend.series : undefined, verdicts.data, account);
  const names = Object.keys(ranges) as Range[];
  useKeys([
    ...row.map((f, i) => ({
      keys: String(i + 1),
      does: `Show ${f.label.toLowerCase()}`,
      run: () => void navigate({ to: f.to, search: f.search } as never),
    })),
    { keys: 'r', does: 'Next range', run: () => change({ range: names[(names.indexOf(range) + 1) % names.length] }) },
  ]);
  if (accounts.data?.length === 0) return <FirstRun />;
  const choices = [
    { value: '', label: 'All accounts' },
    ...(accounts.data ?? []).map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName })),
  ];
  return (
    <Page
      title="Overview"
      beside={<Select label="Account" value={account ?? ''} options={choices} onChange={(a) => change({ account: a || undefined })} />}
    >
      <Ledger figures={row} />
      <div className="cols overview-2">
        <section className="region">
          <header>
            <h2>Open findings</h2>
            <span className="end">
              <Segments<Range>
                small
                label="Range"
                value={range}
                onChange={(r) => change({ range: r === '30d' ? undefined : r })}
                options={names.map((r) => ({ value: r, label: ranges[r].label }))}
              />
            </span>
          </header>
          <Answer query={trend.query} what="the trend">
            {() => trend.series && <TrendChart series={trend.series} jump={largestJump(trend.series, covered)} />}
          </Answer>
        </section>
        <section className="region">
          <header>
            <h2>Coverage</h2>
            <Link className="end" to="/accounts">
              Collection runs
            </Link>
          </header>
          <Answer query={accounts} what="coverage">
            {() => (
              <Answer query={unread} what="coverage">
                {(types) => <Coverage accounts={covered} unread={types} verdicts={verdicts.data} />}
              </Answer>
            )}
          </Answer>
        </section>
      </div>
      <div className="cols overview-3">
        <section className="region">
          <header>
            <h2>Riskiest resources</h2>
            <Link className="end" to="/findings" search={{ account } as never}>
              All by risk
            </Link>
          </header>
          <Answer query={findings} what="the list">
            {(page) => <Riskiest page={page} account={account} />}
          </Answer>
        </section>
        <section className="region">
          <header>
            <h2>Rules that find most</h2>
            <Link className="end" to="/rules">
              {rules === undefined ? 'All rules' : plural(rules, 'rule')}
            </Link>
          </header>
          <Answer query={findings} what="the list">
            {(page) => <TopRules page={page} account={account} />}
          </Answer>
        </section>
        <section className="region">
          <header>
            <h2>Accounts</h2>
            <Link className="end" to="/accounts">
              {plural(accounts.data?.length ?? 0, 'account')}
            </Link>
          </header>
          <Answer query={findings} what="the list">
            {(page) => <AccountCounts page={page} accounts={accounts.data ?? []} />}
          </Answer>
          <Link className="link add-account" to="/accounts/link">
            <Icon name="plus" small />
            Link an account
          </Link>
        </section>
      </div>
    </Page>
  );
}

const FirstRun = () => (
  <Page title="Overview">
    <Empty
      padded
      title="No account is linked"
      action={
        <>
          {(['aws', 'azure', 'gcp'] as const).map((p) => (
            <Link key={p} className={`btn ${p === 'aws' ? 'primary' : ''}`} to={`/accounts/link/${p}`}>
              {{ aws: 'Link AWS', azure: 'Link Azure', gcp: 'Link Google Cloud' }[p]}
            </Link>
          ))}
        </>
      }
    >
      Vigil reads AWS, Azure and Google Cloud with an identity you make for it. Linking one takes about five minutes.
    </Empty>
  </Page>
);
