import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { posture, type Rule } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { useAddress, type Search } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { focusSoon, useKeys } from '../../parts/keys';
import { Mark, ProviderMark, severity } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Select } from '../../parts/Segments';
import { Answer, Empty, Skeleton } from '../../parts/states';
import { count, plural } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { findingsQuery, frameworksQuery, open, rulesQuery } from '../data';
import './rules.css';

export const levelName = (level: string) => (level === 'Med' ? 'Medium' : level);

const filters: { name: string; label: string; read: (r: Rule) => string }[] = [
  { name: 'provider', label: 'Cloud', read: (r) => r.provider },
  { name: 'service', label: 'Service', read: (r) => r.service },
  { name: 'level', label: 'Level', read: (r) => levelName(r.level) },
  { name: 'source', label: 'Source', read: (r) => r.source.toLowerCase() },
  { name: 'status', label: 'Status', read: (r) => r.status.toLowerCase() },
];

const fits = (rule: Rule, search: Search) =>
  filters.every((f) => !search[f.name] || f.read(rule) === search[f.name]) &&
  (!search.framework || rule.complianceControlIds?.some((c) => c.startsWith(`${search.framework}_`))) &&
  `${rule.name} ${rule.displayName} ${rule.description}`.toLowerCase().includes((search.q ?? '').toLowerCase());

interface Sums {
  unknown: number;
  passing: number;
  notApplicable: number;
}

/** The counts of verdicts of all accounts, by rule. */
function sumsByRule(results: ({ ruleId: string } & Sums)[]): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  for (const v of results) {
    const sum = sums.get(v.ruleId) ?? { unknown: 0, passing: 0, notApplicable: 0 };
    sums.set(v.ruleId, {
      unknown: sum.unknown + v.unknown,
      passing: sum.passing + v.passing,
      notApplicable: sum.notApplicable + v.notApplicable,
    });
  }
  return sums;
}

/** Enables or disables a rule. The toast offers to undo that. */
export function useToggle() {
  const client = useQueryClient();
  const set = async (rule: Rule, status: Rule['status'], findings: number, undo = true) => {
    try {
      const { headers } = await posture.answer('get', '/v1/rules/{rule_id}', { path: { rule_id: rule.id } });
      await posture.patch('/v1/rules/{rule_id}', { path: { rule_id: rule.id }, body: { status }, etag: headers.get('ETag') ?? undefined });
      await client.invalidateQueries({ queryKey: ['rules'] });
      await client.invalidateQueries({ queryKey: ['findings'] });
      const effect = status === 'Disabled' && findings > 0 ? `; it resolves ${plural(findings, 'finding')}` : '';
      showToast(
        `${rule.name} is ${status.toLowerCase()}${effect}`,
        undo ? () => void set(rule, status === 'Enabled' ? 'Disabled' : 'Enabled', 0, false) : undefined,
      );
    } catch (cause) {
      showToast(failureText(cause));
    }
  };
  return set;
}

/** The list of rules, with a switch for each. */
export default function Rules() {
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const refused = useRefusal('analyst', 'rules', 'organisation');
  const toggle = useToggle();
  const [current, setCurrent] = useState<string>();
  const [shown, setShown] = useState(100);
  const query = useQuery(rulesQuery);
  const countQuery = useQuery(
    findingsQuery({ filters: open, aggregations: { rule: { fieldName: 'ruleId', termsCount: 1000 } }, paginationInfo: { pageSize: 1 } }),
  );
  const counted = countQuery.data?.aggregations?.rule?.buckets;
  const counts = counted ?? {};
  // Rules are sorted by the counts of the first answer: a rule that is switched off loses its findings, and must not move from under the pointer.
  const firstCounted = useRef(counted);
  firstCounted.current ??= counted;
  const order = firstCounted.current ?? {};
  const verdicts = useQuery({
    queryKey: ['verdicts', 'rules'],
    queryFn: () => posture.post('/v1/rules/verdicts-query', { body: {} }),
  }).data;
  const frameworks = useQuery(frameworksQuery).data ?? [];
  const sums = useMemo(() => sumsByRule(verdicts?.results ?? []), [verdicts]);
  const rows = (query.data ?? [])
    .filter((r) => fits(r, search) && (!search.unknown || (sums.get(r.id)?.unknown ?? 0) > 0))
    .sort((a, b) => (order[b.id]?.count ?? 0) - (order[a.id]?.count ?? 0) || a.name.localeCompare(b.name));
  const add = () => void navigate({ to: '/rules/new' } as never);
  const flip = (r: Rule) => void toggle(r, r.status === 'Enabled' ? 'Disabled' : 'Enabled', counts[r.id]?.count ?? 0);
  const cursor = rows.findIndex((r) => r.id === current);
  const move = (by: number) => {
    const next = Math.max(0, Math.min(cursor + by, rows.length - 1));
    setCurrent(rows[next]?.id);
    focusSoon(`.table tbody tr:nth-child(${next + 1}) th a`);
  };
  useKeys([
    { keys: 'j', does: 'Next rule', run: () => move(1) },
    { keys: 'k', does: 'Previous rule', run: () => move(-1) },
    {
      keys: 'Enter',
      does: 'Open the rule',
      run: () => rows[cursor] && void navigate({ to: `/rules/${encodeURIComponent(rows[cursor].id)}` } as never),
    },
    { keys: ' ', does: 'Switch the rule', run: () => rows[cursor] && !refused && flip(rows[cursor]) },
    { keys: 'n', does: 'New rule', run: add },
  ]);
  const clear = () =>
    change({ q: undefined, framework: undefined, unknown: undefined, ...Object.fromEntries(filters.map((f) => [f.name, undefined])) });
  return (
    <Page
      title="Rules"
      beside={<span className="t3">{count(rows.length)}</span>}
      actions={
        <Button look="primary" icon="plus" refused={refused} onClick={add}>
          New rule
        </Button>
      }
    >
      <div className="toolbar">
        <SearchInput label="Search rules" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        {filters.map((f) => (
          <Select
            key={f.name}
            label={f.label}
            value={search[f.name] ?? ''}
            onChange={(v) => change({ [f.name]: v || undefined })}
            options={[
              { value: '', label: `${f.label}: all` },
              ...[...new Set((query.data ?? []).map(f.read))].sort().map((v) => ({ value: v, label: v })),
            ]}
          />
        ))}
        <Select
          label="Framework"
          value={search.framework ?? ''}
          onChange={(v) => change({ framework: v || undefined })}
          options={[{ value: '', label: 'Framework: all' }, ...frameworks.map((f) => ({ value: f.id, label: `${f.name} ${f.version}` }))]}
        />
        {search.unknown && (
          <Button look="quiet" onClick={() => change({ unknown: undefined })}>
            With unknown verdicts ×
          </Button>
        )}
      </div>
      <Answer query={query} what="the rules" padded>
        {() =>
          countQuery.isPending && !countQuery.failureReason ? (
            <div className="region">
              <Skeleton />
            </div>
          ) : rows.length === 0 ? (
            <Empty padded title="No rule matches" action={<Button onClick={clear}>Clear all</Button>} />
          ) : (
            <div className="table-scroll">
              <table className="table rules-table">
                <thead>
                  <tr>
                    <th>On</th>
                    <th>Rule</th>
                    <th>Level</th>
                    <th className="wide">Cloud</th>
                    <th className="wide">Service</th>
                    <th className="wide roomy">Source</th>
                    <th className="num">Findings</th>
                    <th className="num wide">Unknown</th>
                    <th className="num wide roomy">Passing</th>
                    <th className="num wide roomy" title="Resources of the rule’s types that the rule does not apply to">
                      Not applicable
                    </th>
                    <th className="wide roomy">Changed</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.slice(0, shown).map((r, i) => (
                    <tr key={r.id} className={i === cursor ? 'on' : ''}>
                      <td>
                        <button
                          type="button"
                          role="switch"
                          className="toggle"
                          aria-checked={r.status === 'Enabled'}
                          aria-label={`${r.name} is on`}
                          disabled={!!refused}
                          title={refused}
                          onClick={() => flip(r)}
                        />
                      </td>
                      <th scope="row">
                        <Link to={`/rules/${encodeURIComponent(r.id)}`}>{r.name}</Link>
                        <code className="small t3 block wide">{r.displayName}</code>
                      </th>
                      <td>
                        <span className={`word c-${severity(levelName(r.level))}`}>
                          <Mark name={severity(levelName(r.level))} />
                          <span className="level-word">{levelName(r.level)}</span>
                        </span>
                      </td>
                      <td className="wide">
                        <ProviderMark provider={r.provider} />
                      </td>
                      <td className="wide t2">{r.service}</td>
                      <td className="wide roomy t2">{r.source.toLowerCase()}</td>
                      <td className="num">
                        <Link to="/findings" search={{ rule: r.id } as never}>
                          {count(counts[r.id]?.count ?? 0)}
                        </Link>
                      </td>
                      <td className={`num wide ${sums.get(r.id)?.unknown ? 'c-unknown' : 't3'}`}>
                        {sums.get(r.id)?.unknown ? (
                          <Link to={`/rules/${encodeURIComponent(r.id)}/unknown`}>{count(sums.get(r.id)?.unknown ?? 0)}</Link>
                        ) : (
                          '–'
                        )}
                      </td>
                      <td className="num wide roomy t2">{sums.get(r.id)?.passing ? count(sums.get(r.id)?.passing ?? 0) : '–'}</td>
                      <td className="num wide roomy t3">
                        {sums.get(r.id)?.notApplicable ? count(sums.get(r.id)?.notApplicable ?? 0) : '–'}
                      </td>
                      <td className="wide roomy t3">
                        <Time at={r.lastUpdateTime} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {rows.length > shown && (
                <div className="region">
                  <Button onClick={() => setShown(shown + 500)}>Show more of {count(rows.length)}</Button>
                </div>
              )}
            </div>
          )
        }
      </Answer>
    </Page>
  );
}
