import { Link } from '@tanstack/react-router';
import type { Account, Buckets, Finding, FindingPage } from '../../api/posture';
import { StackBar } from '../../parts/Bars';
import { Mark, ProviderMark, severity } from '../../parts/marks';
import { count, middleCut, shortType } from '../../parts/text';
import { accountMark } from '../accounts/accountMarks';
import { buckets, useSomeRules } from '../data';
import { resourceName } from '../findings/FindingRow';

/** The riskiest finding of each resource, and how many more it has. */
export function riskiest(findings: Finding[]): { finding: Finding; more: number }[] {
  const byResource = new Map<string, { finding: Finding; more: number }>();
  for (const finding of findings) {
    const known = byResource.get(finding.entityId);
    if (known) known.more++;
    else byResource.set(finding.entityId, { finding, more: 0 });
  }
  return [...byResource.values()].slice(0, 9);
}

const topRules = (page: FindingPage) => buckets(page.aggregations?.rule).slice(0, 9);

/** The rules that the lists name. Both lists ask for the rules of both, so that one answer serves them. */
const useListedRules = (page: FindingPage) =>
  useSomeRules([...riskiest(page.results).map((r) => r.finding.ruleId), ...topRules(page).map((b) => b.value)]);

export function Riskiest({ page, account }: { page: FindingPage; account: string | undefined }) {
  const rules = useListedRules(page);
  return (
    <ul className="list">
      {riskiest(page.results).map(({ finding, more }) => (
        <li key={finding.id}>
          <Link className="row" to="/findings" search={{ account, f: finding.id } as never}>
            <Mark name={severity(finding.level, finding.riskScore)} label />
            <b className="risk">{finding.riskScore}</b>
            <span className="cut">{rules.get(finding.ruleId)?.name ?? finding.ruleId}</span>
            {more > 0 && <span className="small t3">+{more}</span>}
            <span className="small t3 cut list-resource">
              {middleCut(resourceName(finding), 22)} · {shortType(finding.objectType)}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

export function TopRules({ page, account }: { page: FindingPage; account: string | undefined }) {
  const rules = useListedRules(page);
  const top = topRules(page);
  return (
    <ul className="list">
      {top.map((b) => {
        const rule = rules.get(b.value);
        const mark = severity(rule?.level === 'Med' ? 'Medium' : (rule?.level ?? ''));
        return (
          <li key={b.value}>
            <Link className="row" to="/findings" search={{ account, rule: b.value } as never}>
              <Mark name={mark} label />
              <span className="cut grow">{rule?.name ?? b.value}</span>
              <span className="barbox">
                <StackBar parts={[{ name: mark, value: b.count }]} total={top[0]?.count ?? 1} />
              </span>
              <span className="num n2">{count(b.count)}</span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

export function AccountCounts({ page, accounts }: { page: FindingPage; accounts: Account[] }) {
  const counts = page.aggregations?.account?.buckets ?? {};
  const rows = accounts.map((a) => ({
    account: a,
    count: counts[a.cloudAccountId]?.count ?? 0,
    levels: counts[a.cloudAccountId]?.subAggregations?.level as Buckets | undefined,
  }));
  rows.sort(
    (a, b) => Number(b.account.accountStatus.value !== 'active') - Number(a.account.accountStatus.value !== 'active') || b.count - a.count,
  );
  const most = Math.max(1, ...rows.map((r) => r.count));
  return (
    <ul className="list">
      {rows.slice(0, 8).map(({ account: a, count: n, levels }) => {
        const inactive = a.accountStatus.value !== 'active';
        return (
          <li key={a.cloudAccountId}>
            <Link
              className="row"
              to={inactive ? `/accounts/${encodeURIComponent(a.cloudAccountId)}` : '/findings'}
              search={(inactive ? {} : { account: a.cloudAccountId }) as never}
            >
              <ProviderMark provider={a.provider} />
              <span className="cut grow">{a.cloudAccountName}</span>
              {inactive ? (
                <span className="small c-error">{accountMark(a).word}</span>
              ) : (
                <>
                  <span className="barbox">
                    <StackBar
                      total={most}
                      parts={['High', 'Medium', 'Low'].map((l) => ({ name: l.toLowerCase(), value: levels?.buckets[l]?.count ?? 0 }))}
                    />
                  </span>
                  <span className="num n2">{count(n)}</span>
                </>
              )}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}
