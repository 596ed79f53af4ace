import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Rule } from '../../api/posture';
import { StackBar } from '../../parts/Bars';
import { Mark, Word } from '../../parts/marks';
import { Segments } from '../../parts/Segments';
import { count, plural, sentence } from '../../parts/text';
import { buckets, findingsQuery, open, useRules } from '../data';
import { propertyText } from '../resource/property';
import { DryRunGraph } from './DryRunGraph';
import { accountsWithNew, columnsOf, effect, type Found } from './effect';
import { totals, type DryRun } from './useDryRun';

/** A filter of the API has at most this many ids. */
const mostCompared = 1000;

type View = 'resources' | 'accounts' | 'graph' | 'plan' | 'json';

/** The findings that the violating resources have already: of the rule itself, and of the other rule that most of them violate. */
function useOverlap(
  ids: string[],
  own: string | undefined,
  accounts: { id: string; violating: number }[],
): Pick<Found, 'compared' | 'newAccounts' | 'own' | 'other'> {
  const rules = useRules();
  const compared = ids.slice(0, mostCompared);
  const answer = useQuery({
    ...findingsQuery({
      filters: { ...open, objectIds: compared },
      aggregations: { rule: { fieldName: 'ruleId', termsCount: 100 } },
      paginationInfo: { pageSize: 1 },
    }),
    enabled: ids.length > 0,
  });
  const ownFindings = useQuery({
    ...findingsQuery({
      filters: { ...open, objectIds: compared, ruleIds: own === undefined ? [] : [own] },
      aggregations: { account: { fieldName: 'cloudAccountId', termsCount: mostCompared } },
      paginationInfo: { pageSize: 1 },
    }),
    enabled: ids.length > 0 && own !== undefined,
  });
  const ownPage = ownFindings.isPlaceholderData ? undefined : ownFindings.data;
  const page = answer.isPlaceholderData ? undefined : answer.data; // placeholder data is about the previous resources
  const found = ids.length > 0 ? buckets(page?.aggregations?.rule) : [];
  const other = found.find((b) => b.value !== own);
  return {
    compared: page ? compared.length : answer.isError ? 0 : undefined,
    newAccounts: ownPage && accountsWithNew(accounts, buckets(ownPage.aggregations?.account)),
    own: found.find((b) => b.value === own)?.count ?? 0,
    other: other && { name: rules.get(other.value)?.name ?? other.value, count: other.count },
  };
}

/** The result of a dry run: the counts of the verdicts, what enabling the rule would do, and the resources. */
export function DryRunResult({ run, level, old, rule }: { run: DryRun; level: string; old: boolean; rule: Rule | undefined }) {
  const [view, setView] = useState<View>('resources');
  const t = totals(run);
  const all = t.violating + t.unknown + t.passing;
  const failed = run.outcomes.filter((o) => o.error);
  const unread = run.outcomes.flatMap((o) => (o.answer?.unread ?? []).map((u) => ({ ...u, account: o.account })));
  const incomplete = new Set([...failed.map((o) => o.account.cloudAccountId), ...unread.map((u) => u.cloudAccountId)]).size;
  const hit = run.outcomes.filter((o) => (o.answer?.violating ?? 0) > 0).length;
  const rows = run.outcomes.flatMap((o) => (o.answer?.results ?? []).map((r) => ({ ...r, account: o.account })));
  const overlap = useOverlap(
    rows.filter((r) => r.verdict === 'Violation').map((r) => r.entity.entityId),
    rule?.id,
    run.outcomes.map((o) => ({ id: o.account.cloudAccountId, violating: o.answer?.violating ?? 0 })),
  );
  const reads = columnsOf(
    run.outcomes.flatMap((o) => o.answer?.reads.properties ?? []),
    rows.map((r) => r.entity),
  );
  return (
    <div className={old ? 'dry-old' : ''}>
      {old && <p className="small t3 dry-note">The query has changed since this dry run.</p>}
      <div className="dry-summary">
        <span>
          <Word name="violation" />
          <b>{count(t.violating)}</b> <span className="small t3">of {count(all)}</span>
        </span>
        <span>
          <Word name="unknown" />
          <b>{count(t.unknown)}</b>{' '}
          <span className="small t3">{incomplete ? `and ${plural(incomplete, 'account')} not read in full` : `of ${count(all)}`}</span>
        </span>
        <span>
          <Word name="pass" />
          <b>{count(t.passing)}</b> <span className="small t3">of {count(all)}</span>
        </span>
        {t.notApplicable > 0 && (
          <span title="Resources of the rule’s types that the rule does not apply to">
            <Word name="nothing" />
            <b>{count(t.notApplicable)}</b>
          </span>
        )}
        <p className="dry-effect">
          <b>{rule?.status === 'Enabled' ? 'It is enabled:' : 'If you enable it:'}</b>{' '}
          {effect({ violating: t.violating, accounts: hit, level, ...overlap })}
        </p>
      </div>
      <div className="dry-bar">
        <StackBar
          tall
          label={`${t.violating} violating, ${t.unknown} unknown, ${t.passing} passing`}
          parts={[
            { name: 'violation', value: t.violating },
            { name: 'pass', value: t.passing },
            { name: 'unknown', value: t.unknown },
          ]}
        />
      </div>
      <div className="toolbar">
        <Segments<View>
          label="Result"
          value={view}
          onChange={setView}
          options={[
            { value: 'resources', label: 'Resources', count: rows.length },
            { value: 'accounts', label: 'Accounts', count: run.outcomes.length },
            { value: 'graph', label: 'Graph' },
            { value: 'plan', label: 'Plan' },
            { value: 'json', label: 'JSON' },
          ]}
        />
      </div>
      {view === 'resources' && (
        <div className="table-scroll">
          <table className="table">
            <thead>
              <tr>
                <th>Verdict</th>
                <th>Resource</th>
                <th>Account</th>
                <th className="wide">Region</th>
                {reads.map((p) => (
                  <th key={p} className="wide">
                    <code>{p}</code>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((r) => {
                const value = (name: string) => r.entity.properties.find((p) => p.name === name);
                return (
                  <tr key={r.entity.entityId}>
                    <td>
                      <Word name={r.verdict === 'Violation' ? 'violation' : 'unknown'} />
                    </td>
                    <th scope="row">
                      <Link to={`/resource/${encodeURIComponent(r.entity.entityId)}`}>{r.entity.entityName}</Link>
                    </th>
                    <td>{r.account.cloudAccountName}</td>
                    <td className="wide t2">{r.entity.region}</td>
                    {reads.map((p) => {
                      const v = value(p);
                      return (
                        <td key={p} className="wide">
                          <code>{v ? propertyText(v) : '–'}</code>
                        </td>
                      );
                    })}
                  </tr>
                );
              })}
              {rows.length < t.violating + t.unknown && (
                <tr>
                  <td colSpan={4 + reads.length} className="t3">
                    {count(rows.length)} of {plural(t.violating + t.unknown, 'resource')}: the server lists the first 100 of each verdict in
                    an account.
                  </td>
                </tr>
              )}
              {failed.map((o) => (
                <tr key={o.account.cloudAccountId} className="dry-unknown">
                  <td>
                    <Word name="unknown" />
                  </td>
                  <td colSpan={3 + reads.length}>
                    <b>{o.account.cloudAccountName}</b> {o.error instanceof Error ? sentence(o.error.message) : 'was not tried.'}
                  </td>
                </tr>
              ))}
              {unread.slice(0, 20).map((u) => (
                <tr key={`${u.cloudAccountId}${u.entityType}${u.region}`} className="dry-unknown">
                  <td>
                    <Word name="unknown" />
                  </td>
                  <td colSpan={3 + reads.length}>
                    <b>{u.account.cloudAccountName}</b> <code>{u.entityType}</code> in {u.region || 'every region'} was not read: {u.why}{' '}
                    <Link className="inline-link" to={`/accounts/${encodeURIComponent(u.cloudAccountId)}`}>
                      Fix access
                    </Link>
                  </td>
                </tr>
              ))}
              {rows.length === 0 && incomplete === 0 && (
                <tr>
                  <td colSpan={4 + reads.length} className="t3">
                    No resource violates the rule, and none is unknown.
                  </td>
                </tr>
              )}
            </tbody>
          </table>
        </div>
      )}
      {view === 'accounts' && (
        <table className="table">
          <thead>
            <tr>
              <th>Account</th>
              <th className="num">Violating</th>
              <th className="num">Unknown</th>
              <th className="num">Passing</th>
              <th className="num">Not applicable</th>
              <th className="num">Steps</th>
            </tr>
          </thead>
          <tbody>
            {run.outcomes.map((o) => (
              <tr key={o.account.cloudAccountId}>
                <th scope="row">{o.account.cloudAccountName}</th>
                <td className="num">{o.answer?.violating ?? '–'}</td>
                <td className="num">{o.answer?.unknown ?? '–'}</td>
                <td className="num">{o.answer?.passing ?? '–'}</td>
                <td className="num">{o.answer?.notApplicable ?? '–'}</td>
                <td className="num">{o.answer ? count(o.answer.cost.traversers) : <Mark name="unknown" label />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {view === 'graph' && (
        <DryRunGraph
          total={t.violating + t.unknown}
          complete={incomplete === 0}
          found={rows.map((r) => ({
            entityId: r.entity.entityId,
            account: r.account.cloudAccountId,
            violates: r.verdict === 'Violation',
          }))}
        />
      )}
      {view === 'plan' && (
        <pre className="json" tabIndex={0}>
          {run.outcomes
            .find((o) => o.answer?.explain)
            ?.answer?.explain?.steps.map((s) => `${'  '.repeat(s.depth)}${s.step}${s.note ? `   ${s.note}` : ''}`)
            .join('\n') ?? 'The server returned no plan.'}
        </pre>
      )}
      {view === 'json' && (
        <pre className="json" tabIndex={0}>
          {JSON.stringify(
            run.outcomes.map((o) => ({ account: o.account.cloudAccountId, answer: o.answer })),
            null,
            2,
          )}
        </pre>
      )}
    </div>
  );
}
