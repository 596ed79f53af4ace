import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { posture, type Entity, type GraphAnswer } from '../../api/posture';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { csv } from '../../parts/csv';
import { saveFile } from '../../parts/file';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Segments, Select } from '../../parts/Segments';
import { Empty, Failure, Skeleton } from '../../parts/states';
import { count, plural, sentence, shortType } from '../../parts/text';
import { accountsQuery, schemaQuery } from '../data';
import { queryProblems } from '../editor/problems';
import { nodeOf, type Graph, type TreeNode } from '../graph/model';
import { questions } from './questions';
import '../findings/findings.css';
import '../graph/graph.css';
import '../rules/rules.css';
import './explore.css';

const CodeEditor = lazy(() => import('../editor/CodeEditor'));
const GraphView = lazy(() => import('../graph/GraphView'));

type View = 'table' | 'graph' | 'json' | 'plan';
const stored = 'vigil.explore';
const past = (): string[] => JSON.parse(localStorage.getItem(stored) ?? '[]') as string[];
const remember = (query: string) => localStorage.setItem(stored, JSON.stringify([query, ...past().filter((q) => q !== query)].slice(0, 50)));

function graphOf(answer: GraphAnswer): Graph {
  const edges: Graph['edges'] = [];
  const walk = (nodes: TreeNode[], parent?: string) => nodes.forEach((n) => { if (parent) edges.push({ from: parent, label: '', to: n.id }); walk(n.childNodes, n.id); });
  walk(answer.tree.nodes);
  return { nodes: new Map(Object.entries(answer.entities).slice(0, 250).map(([id, e]) => [id, nodeOf(id, e)])), edges: edges.filter((e) => answer.entities[e.from] && answer.entities[e.to]) };
}

function EntityTable({ entities }: { entities: Entity[] }) {
  return <table className="table"><thead><tr><th>Name</th><th>Type</th><th className="wide">Region</th><th className="wide">Id</th></tr></thead><tbody>{entities.map((e) => <tr key={e.entityId}><th scope="row"><Link to={`/resource/${encodeURIComponent(e.entityId)}`}>{e.entityName}</Link></th><td className="t2">{shortType(e.entityType)}</td><td className="wide t2">{e.region}</td><td className="wide"><code className="small">{e.xid}</code></td></tr>)}</tbody></table>;
}

function Result({ answer, view }: { answer: GraphAnswer; view: View }) {
  const navigate = useNavigate();
  const graph = useMemo(() => graphOf(answer), [answer]);
  const entities = Object.values(answer.entities);
  if (view === 'json') return <pre className="json region" tabIndex={0}>{JSON.stringify(answer, null, 2).slice(0, 200_000)}</pre>;
  if (view === 'plan') return <pre className="json region" tabIndex={0}>{answer.explain ? answer.explain.steps.map((s) => `${'  '.repeat(s.depth)}${s.step}${s.note ? `   ${s.note}` : ''}`).join('\n') + '\n' + answer.explain.notes.join('\n') : 'The server told no plan.'}</pre>;
  if (view === 'graph' && entities.length > 0 && entities.length <= 250) return <div className="graph-band"><Suspense fallback={<Skeleton />}><GraphView graph={graph} centre="" hot={new Set()} findings={new Map()} onOpen={(n) => void navigate({ to: `/resource/${encodeURIComponent(n.id)}` } as never)} /></Suspense></div>;
  if (answer.count === 0) return <Empty padded title="No result">The query is right; nothing in this account matches it.</Empty>;
  return <div className="table-scroll">{entities.length > 0 && <EntityTable entities={entities.slice(0, 500)} />}{answer.values.length > 0 && <table className="table"><tbody>{answer.values.slice(0, 500).map((v, i) => <tr key={i}><td><code>{typeof v === 'string' ? v : JSON.stringify(v)}</code></td></tr>)}</tbody></table>}</div>;
}

/** Ask anything. */
export default function Explore() {
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const accounts = useQuery(accountsQuery).data ?? [];
  const schema = useQuery(schemaQuery).data;
  const account = search.account ?? accounts[0]?.cloudAccountId ?? '';
  const [text, setText] = useState(search.q ?? questions[0]?.gremlin ?? '');
  const [asked, setAsked] = useState(search.q ? { gremlin: search.q, n: 0 } : undefined);
  const view = (search.view ?? 'table') as View;
  const query = useQuery({
    queryKey: ['explore', asked, account],
    enabled: !!asked && account !== '',
    queryFn: () => posture.post('/v1/entities/graph-query', { body: { gremlin: asked?.gremlin ?? '', partitionKey: account, explain: true } }),
    retry: false,
  });
  const run = () => { remember(text); change({ q: text, account: search.account }); setAsked({ gremlin: text, n: (asked?.n ?? 0) + 1 }); };
  const problems = useMemo(() => (asked?.gremlin === text ? queryProblems(query.error) : []), [query.error, asked, text]);
  const saveRule = () => void navigate({ to: '/rules/new', search: { q: text } } as never);
  const views: View[] = ['table', 'graph', 'json', 'plan'];
  useKeys([{ keys: 'Ctrl+Enter', does: 'Run', run }, { keys: 'Ctrl+s', does: 'Save as rule', run: saveRule }, ...views.map((v, i) => ({ keys: `Alt+${i + 1}`, does: `Show as ${v}`, run: () => change({ view: v === 'table' ? undefined : v }) }))]);
  const answer = query.data;
  const cost = answer?.cost;
  return (
    <Page title="Explore" actions={<Button className="wide" onClick={saveRule}>Save as rule</Button>}>
      <div className="toolbar">
        <Select label="Question" value="" onChange={(q) => q && setText(q)} options={[{ value: '', label: 'Begin with a question' }, ...questions.map((q) => ({ value: q.gremlin, label: q.text })), ...past().slice(0, 10).map((q) => ({ value: q, label: `Before: ${q.slice(0, 60)}` }))]} />
        <Select label="Account" value={account} onChange={(a) => change({ account: a })} options={accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName }))} />
        <Button look="go" icon="play" keys="Ctrl ↵" disabled={query.isFetching || !account} onClick={run}>Run</Button>
        {cost && <span className="small t3">{plural(answer.count, 'result')} · {count(cost.traversers)} of 1,000,000 steps · {cost.ranMs.toFixed(1)} ms</span>}
        <span className="end"><Segments<View> label="View" value={view} onChange={(v) => change({ view: v === 'table' ? undefined : v })} options={views.map((v) => ({ value: v, label: v === 'json' ? 'JSON' : sentence(v) }))} /></span>
        {answer && Object.keys(answer.entities).length > 0 && <Button icon="download" aria-label="Save rows" onClick={() => saveFile('resources.csv', 'text/csv', csv(['id', 'name', 'type', 'region', 'cloud_id'], Object.values(answer.entities).map((e) => [e.entityId, e.entityName, e.entityType, e.region, e.xid])))} />}
      </div>
      <div className="editor-box explore-editor"><Suspense fallback={<Skeleton />}><CodeEditor label="Query" value={text} schema={schema} problems={problems} onChange={setText} onRun={run} /></Suspense></div>
      {problems.length > 0 ? <div className="region"><div className="note error" role="alert"><Mark name="error" /><span>{problems.map((p) => sentence(p.message)).join('; ')}</span></div></div> : query.isError ? <Failure padded error={query.error} what="the query" onRetry={run} /> : null}
      {query.isFetching && <div className="region"><Skeleton /></div>}
      {answer && !query.isFetching && <Result answer={answer} view={view} />}
      {!asked && <Empty padded title="Ask about one account">Gremlin walks the graph of its resources: begin with a question, or write one. Ctrl Space completes names.</Empty>}
    </Page>
  );
}
