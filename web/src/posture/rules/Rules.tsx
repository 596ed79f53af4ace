import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Rule } from '../../api/posture';
import { useMay } from '../../api/session';
import { useAddress, type Search } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { useKeys } from '../../parts/keys';
import { Mark, ProviderMark, severity } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, plural, sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { say } from '../../parts/toast';
import { findingsQuery, open, rulesQuery } from '../data';
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
  filters.every((f) => !search[f.name] || f.read(rule) === search[f.name]) && `${rule.name} ${rule.displayName} ${rule.description}`.toLowerCase().includes((search.q ?? '').toLowerCase());

/** Switches a rule on or off, with a way back. */
export function useToggle() {
  const client = useQueryClient();
  const set = async (rule: Rule, status: Rule['status'], findings: number, undo = true) => {
    try {
      const { headers } = await posture.answer('get', '/v1/rules/{rule_id}', { path: { rule_id: rule.id } });
      await posture.patch('/v1/rules/{rule_id}', { path: { rule_id: rule.id }, body: { status }, etag: headers.get('ETag') ?? undefined });
      await client.invalidateQueries({ queryKey: ['rules'] });
      await client.invalidateQueries({ queryKey: ['findings'] });
      const effect = status === 'Disabled' && findings > 0 ? `; it resolves ${plural(findings, 'finding')}` : '';
      say(`${rule.name} is ${status.toLowerCase()}${effect}`, undo ? () => void set(rule, status === 'Enabled' ? 'Disabled' : 'Enabled', 0, false) : undefined);
    } catch (cause) {
      say(cause instanceof ApiError ? sentence(cause.message) : 'That failed.');
    }
  };
  return set;
}

/** What is checked, and switches for it. */
export default function Rules() {
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const analyst = useMay('analyst');
  const toggle = useToggle();
  const [cursor, setCursor] = useState(-1);
  const query = useQuery(rulesQuery);
  const counts = useQuery(findingsQuery({ filters: open, aggregations: { rule: { fieldName: 'ruleId', termsCount: 1000 } }, paginationInfo: { pageSize: 1 } })).data?.aggregations?.rule?.buckets ?? {};
  const rows = (query.data ?? []).filter((r) => fits(r, search)).sort((a, b) => (counts[b.id]?.count ?? 0) - (counts[a.id]?.count ?? 0) || a.name.localeCompare(b.name));
  const add = () => void navigate({ to: '/rules/new' } as never);
  const flip = (r: Rule) => void toggle(r, r.status === 'Enabled' ? 'Disabled' : 'Enabled', counts[r.id]?.count ?? 0);
  useKeys([
    { keys: 'j', does: 'Next rule', run: () => setCursor(Math.min(cursor + 1, rows.length - 1)) },
    { keys: 'k', does: 'Previous rule', run: () => setCursor(Math.max(cursor - 1, 0)) },
    { keys: 'Enter', does: 'Open the rule', run: () => rows[cursor] && void navigate({ to: `/rules/${encodeURIComponent(rows[cursor].id)}` } as never) },
    { keys: 'n', does: 'New rule', run: add },
  ]);
  const clear = () => change({ q: undefined, ...Object.fromEntries(filters.map((f) => [f.name, undefined])) });
  return (
    <Page title="Rules" beside={<span className="t3">{count(rows.length)}</span>} actions={<Button look="primary" icon="plus" takes={!analyst && 'analyst'} onClick={add}>New rule</Button>}>
      <div className="toolbar">
        <SearchInput label="Search rules" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        {filters.map((f) => <Select key={f.name} label={f.label} value={search[f.name] ?? ''} onChange={(v) => change({ [f.name]: v || undefined })} options={[{ value: '', label: `${f.label}: all` }, ...[...new Set((query.data ?? []).map(f.read))].sort().map((v) => ({ value: v, label: v }))]} />)}
      </div>
      <Answer query={query} what="the rules" padded>
        {() => rows.length === 0 ? <Empty padded title="No rule matches" action={<Button onClick={clear}>Clear all</Button>} /> : (
          <div className="table-scroll">
            <table className="table">
              <thead><tr><th>On</th><th>Rule</th><th>Level</th><th className="wide">Cloud</th><th className="wide">Service</th><th className="wide">Source</th><th className="num">Findings</th><th className="wide">Changed</th></tr></thead>
              <tbody>
                {rows.map((r, i) => (
                  <tr key={r.id} className={i === cursor ? 'on' : ''}>
                    <td><button type="button" role="switch" className="toggle" aria-checked={r.status === 'Enabled'} aria-label={`${r.name} is on`} disabled={!analyst} title={analyst ? undefined : 'Takes the role analyst'} onClick={() => flip(r)} /></td>
                    <th scope="row"><Link to={`/rules/${encodeURIComponent(r.id)}`}>{r.name}</Link> <code className="small t3 wide">{r.displayName}</code></th>
                    <td><span className={`word c-${severity(levelName(r.level))}`}><Mark name={severity(levelName(r.level))} />{levelName(r.level)}</span></td>
                    <td className="wide"><ProviderMark provider={r.provider} /></td>
                    <td className="wide t2">{r.service}</td>
                    <td className="wide t2">{r.source.toLowerCase()}</td>
                    <td className="num"><Link to="/findings" search={{ rule: r.id } as never}>{count(counts[r.id]?.count ?? 0)}</Link></td>
                    <td className="wide t3"><Time at={r.lastUpdateTime} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Answer>
    </Page>
  );
}
