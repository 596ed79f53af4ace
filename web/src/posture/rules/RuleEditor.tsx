import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Rule, type RuleSpec } from '../../api/posture';
import { useMay } from '../../api/session';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Answer, Skeleton } from '../../parts/states';
import { count, sentence } from '../../parts/text';
import { clockTime } from '../../parts/time';
import { say } from '../../parts/toast';
import { accountsQuery, schemaQuery } from '../data';
import { queryProblems } from '../editor/problems';
import { gremlinOf } from '../graph/load';
import { DryRunResult } from './DryRunResult';
import { RuleForm } from './RuleForm';
import { levelName } from './Rules';
import { totals, useDryRun } from './useDryRun';
import '../findings/findings.css';
import './rules.css';

const CodeEditor = lazy(() => import('../editor/CodeEditor'));

const example = "g.V().hasLabel('AWS.EC2.Instance')\n  .has('metadataHttpEndpoint', 'enabled')\n  .not(has('metadataHttpTokens', 'required'))";
const empty: RuleSpec = { name: '', displayName: '', provider: 'aws', level: 'Med', category: 'Security', service: '', description: '', suggestedAction: '', documentationLink: '', query: example, complianceControlIds: [] };

const draftOf = (r: Rule): RuleSpec => ({ name: r.name, displayName: r.displayName, provider: r.provider, level: r.level, category: r.category, service: r.service, description: r.description, suggestedAction: r.suggestedAction, documentationLink: r.documentationLink, query: gremlinOf(r.query), complianceControlIds: r.complianceControlIds, visualizationQuery: r.visualizationQuery });
const stored = (gremlin: string) => JSON.stringify({ inventoryQueryType: 'Graph', queryString: gremlin });

function Editor({ rule, first }: { rule: Rule | undefined; first: RuleSpec }) {
  const [draft, setDraft] = useState(first);
  const [dirty, setDirty] = useState(false);
  const [error, setError] = useState<ApiError>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const analyst = useMay('analyst');
  const schema = useQuery(schemaQuery).data;
  const accounts = (useQuery(accountsQuery).data ?? []).filter((a) => a.provider === draft.provider);
  const { run, busy, start } = useDryRun();
  const native = rule?.source === 'Native';
  useBlocker({ shouldBlockFn: () => dirty && !window.confirm('The rule is not saved. Leave it?'), enableBeforeUnload: () => dirty });
  const change = (patch: Partial<RuleSpec>) => { setDraft((d) => ({ ...d, ...patch })); setDirty(true); };
  const failure = run?.query === draft.query ? run.outcomes.find((o) => o.error)?.error : undefined;
  const problems = [...queryProblems(failure), ...queryProblems(error).filter((p) => p.path === 'query' || p.path === 'queryString')];
  const reads = run?.outcomes.find((o) => o.answer)?.answer?.reads;
  const test = () => void start(draft.query, accounts);

  const save = async (status: Rule['status']) => {
    setError(undefined);
    try {
      if (rule) {
        const { headers } = await posture.answer('get', '/v1/rules/{rule_id}', { path: { rule_id: rule.id } });
        await posture.patch('/v1/rules/{rule_id}', { path: { rule_id: rule.id }, body: { status, level: draft.level, category: draft.category || 'Security' }, etag: headers.get('ETag') ?? undefined });
      } else {
        const made = (await posture.post('/v1/rules', { body: { ...draft, status, query: stored(draft.query) } })) as Rule;
        setDirty(false);
        await client.invalidateQueries({ queryKey: ['rules'] });
        say(status === 'Enabled' ? 'Saved and enabled' : 'Saved');
        setTimeout(() => void navigate({ to: `/rules/${encodeURIComponent(made.id)}` } as never));
        return;
      }
      setDirty(false);
      await client.invalidateQueries({ queryKey: ['rules'] });
      say('Saved');
    } catch (cause) {
      if (cause instanceof ApiError) setError(cause);
      else throw cause;
    }
  };
  const remove = async () => {
    if (!rule || !window.confirm(`Delete ${rule.name}? Its findings are resolved.`)) return;
    await posture.delete('/v1/rules/{rule_id}', { path: { rule_id: rule.id } }).then(async () => { setDirty(false); await client.invalidateQueries({ queryKey: ['rules'] }); void navigate({ to: '/rules' } as never); }, (cause: unknown) => say(cause instanceof ApiError ? sentence(cause.message) : 'That failed.'));
  };
  useKeys([{ keys: 'Ctrl+Enter', does: 'Dry run', run: test }, { keys: 'Ctrl+s', does: 'Save', run: () => void save(rule?.status ?? 'Disabled') }]);
  const t = run && totals(run);
  return (
    <Page
      title={rule?.name ?? 'New rule'}
      crumbs={<Link to="/rules">Rules</Link>}
      beside={rule ? <span className={`pill ${rule.status === 'Enabled' ? 'ok' : ''} wide`}>{rule.status}</span> : <span className="pill accent">Draft</span>}
      actions={native ? <Link className="btn primary" to="/rules/new" search={{ copy: rule.id } as never}>Copy as custom</Link> : <>{rule && <Button look="danger" changes takes={!analyst && 'analyst'} onClick={() => void remove()}>Delete</Button>}<Button changes takes={!analyst && 'analyst'} onClick={() => void save('Disabled')}>Save disabled</Button><Button look="primary" changes takes={!analyst && 'analyst'} onClick={() => void save('Enabled')}>Save and enable</Button></>}
    >
      <div className="rule">
        <div className="rule-left">
          <div className="toolbar"><span className="t2">{native ? 'This rule comes with Vigil; its query is read-only.' : rule ? 'The query of a stored rule stays; copy it to change it.' : 'Every vertex this query returns is a violation.'}</span>{rule && <Link className="link end" to="/findings" search={{ rule: rule.id } as never}>Findings of this rule</Link>}</div>
          <div className="editor-box"><Suspense fallback={<Skeleton />}><CodeEditor label="Query" value={draft.query} readOnly={!!rule} schema={schema} problems={problems} onChange={(query) => query !== draft.query && change({ query })} onRun={test} /></Suspense></div>
          <div className="editor-foot" aria-live="polite">
            {problems.length ? <span className="word c-error"><Mark name="error" />{sentence(problems[0]?.message ?? '')}</span> : reads ? <><span className="word c-ok"><Mark name="ok" />No problems</span><span className="t3">finds {reads.findsTypes.map((x) => <code key={x}>{x}</code>)} reads {count(reads.properties.length)} properties, {count(reads.edges.length)} edges{reads.clock ? '; asks the clock' : ''}</span>{reads.notInSchema.length > 0 && <span className="c-warn">not in the schema: {reads.notInSchema.join(', ')}</span>}</> : <span className="t3">Run it to see what it would find. Nothing is kept.</span>}
          </div>
          {error && problems.length === 0 && <div className="region"><div className="note error" role="alert"><Mark name="error" /><span><b>{sentence(error.message)}</b> {error.fields.map((f) => `${f.path}: ${f.message}`).join('; ')}</span></div></div>}
          <section className="dry" aria-label="Dry run">
            <div className="toolbar dry-toolbar"><h2>Dry run</h2><span className="t2">{accounts.length} accounts</span><Button look="go" icon="play" keys="Ctrl ↵" disabled={busy || accounts.length === 0} onClick={test}>{busy ? 'Running…' : 'Run'}</Button>{run && t && <span className="small t3">{clockTime(run.at)} · {count(t.cost)} of 1,000,000 steps · {t.ms.toFixed(1)} ms · nothing was kept</span>}</div>
            {run && <DryRunResult run={run} level={levelName(draft.level)} old={run.query !== draft.query} />}
          </section>
        </div>
        <RuleForm draft={draft} change={change} fixed={native} stored={!!rule} error={error} />
      </div>
    </Page>
  );
}

/** One rule: its query, what it would find, and its texts. */
export default function RuleEditor() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const { search } = useAddress();
  const source = id ?? search.copy;
  const query = useQuery({ queryKey: ['rules', source], enabled: !!source, queryFn: () => posture.get('/v1/rules/{rule_id}', { path: { rule_id: source ?? '' } }) });
  if (!source) return <Editor key="new" rule={undefined} first={{ ...empty, ...(search.q ? { query: search.q } : {}) }} />;
  if (!query.data) return <Page title="Rule" crumbs={<Link to="/rules">Rules</Link>}><Answer query={query} what="the rule" padded>{() => null}</Answer></Page>;
  const rule = query.data;
  return id ? <Editor key={id} rule={rule} first={draftOf(rule)} /> : <Editor key={`copy ${source}`} rule={undefined} first={{ ...draftOf(rule), name: `${rule.name} (copy)`, displayName: `${rule.displayName}-copy` }} />;
}
