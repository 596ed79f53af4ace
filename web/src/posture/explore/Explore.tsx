import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Account, type GraphAnswer } from '../../api/posture';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { StackBar } from '../../parts/Bars';
import { Button } from '../../parts/Button';
import { csv } from '../../parts/csv';
import { saveFile } from '../../parts/file';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Segments, Select } from '../../parts/Segments';
import { Empty, Failure, Skeleton } from '../../parts/states';
import { count, sentence } from '../../parts/text';
import { accountsQuery, schemaQuery } from '../data';
import { queryProblems } from '../editor/problems';
import { accountOf, type Language } from './account';
import { asked as withBlank, questions, questionsFor, searches, type Question } from './questions';
import { extentOf, Result, SearchResult, type View } from './results';
import '../findings/findings.css';
import '../graph/graph.css';
import '../rules/rules.css';
import './explore.css';

const CodeEditor = lazy(() => import('../editor/CodeEditor'));

const stored = 'vigil.explore';

/** Queries that were run, newest first, kept in this browser. */
interface Past {
  text: string;
  language: Language;
}
function kept(): Past[] {
  try {
    const all = JSON.parse(localStorage.getItem(stored) ?? '[]') as unknown;
    return Array.isArray(all) ? all.filter((q): q is Past => typeof q === 'object' && q !== null && 'text' in q) : [];
  } catch {
    return [];
  }
}
function remember(query: Past): Past[] {
  const all = [query, ...kept().filter((q) => q.text !== query.text)].slice(0, 50);
  localStorage.setItem(stored, JSON.stringify(all));
  return all;
}

interface Answers {
  answers: { account: Account; answer?: GraphAnswer; error?: unknown }[];
}

/** Runs a query on one account after the other: Gremlin traverses the graph of one account. */
async function askGraph(gremlin: string, accounts: Account[]): Promise<Answers> {
  const answers: Answers['answers'] = [];
  for (const account of accounts) {
    try {
      answers.push({
        account,
        answer: await posture.post('/v1/entities/graph-query', { body: { gremlin, partitionKey: account.cloudAccountId, explain: true } }),
      });
    } catch (error) {
      if (accounts.length === 1 || (error instanceof ApiError && error.status === 400)) throw error;
      answers.push({ account, error });
    }
  }
  return { answers };
}

/** Merges the answers of several accounts. The ids in the rows tell which account they are from. */
function merged({ answers }: Answers): GraphAnswer | undefined {
  const all = answers.flatMap((a) => (a.answer ? [a.answer] : []));
  const first = all[0];
  if (!first || all.length === 1) return first;
  const cost = all.reduce(
    (sum, a) => ({ ...sum, traversers: sum.traversers + (a.cost?.traversers ?? 0), ranMs: sum.ranMs + (a.cost?.ranMs ?? 0) }),
    { traversers: 0, bytes: 0, generation: 0, waitedMs: 0, ranMs: 0 },
  );
  return {
    ...first,
    count: all.reduce((n, a) => n + a.count, 0),
    entities: Object.assign({}, ...all.map((a) => a.entities)) as GraphAnswer['entities'],
    values: all.flatMap((a) => a.values),
    edges: all.flatMap((a) => a.edges),
    tree: { nodes: all.flatMap((a) => a.tree.nodes) },
    cost,
  };
}

const firstSearch = searches[0]?.query ?? '';

/** Runs Gremlin queries and searches, and shows their results. */
export default function Explore() {
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const accounts = useQuery(accountsQuery).data ?? [];
  const schema = useQuery(schemaQuery).data;
  const language: Language = search.lang === 'search' ? 'search' : 'gremlin';
  const account = accountOf(search.account, language, accounts[0]?.cloudAccountId);
  const chosen = account === 'all' ? accounts : accounts.filter((a) => a.cloudAccountId === account);
  const offered = questionsFor([...new Set(chosen.map((a) => a.provider))]);
  const [text, setText] = useState(search.q ?? (language === 'search' ? firstSearch : (questions[0]?.gremlin ?? '')));
  const [typeInText, setTypeInText] = useState('');
  const [asked, setAsked] = useState(search.q ? { text: search.q, n: 0 } : undefined);
  const [past, setPast] = useState(kept);
  const view = (search.view ?? 'table') as View;
  const query = useQuery({
    queryKey: ['explore', asked, chosen.map((a) => a.cloudAccountId)],
    enabled: !!asked && language === 'gremlin' && chosen.length > 0,
    queryFn: () => askGraph(asked?.text ?? '', chosen),
    retry: false,
  });
  const ask = (q: string) => {
    setPast(remember({ text: q, language }));
    change({ q, account: search.account });
    setAsked({ text: q, n: (asked?.n ?? 0) + 1 });
  };
  const run = () => ask(text);
  const begin = (q: Question) => {
    setTypeInText(q.type ?? '');
    setText(q.gremlin);
    ask(q.gremlin);
  };
  const edit = (next: string, lang: Language = 'gremlin') => {
    setText(next);
    if (lang !== language) {
      change({ lang: lang === 'search' ? 'search' : undefined, q: undefined });
      setAsked(undefined);
    }
  };
  const problems = useMemo(
    () => (asked?.text === text && language === 'gremlin' ? queryProblems(query.error) : []),
    [query.error, asked, text, language],
  );
  const saveRule = () =>
    void navigate({ to: '/rules/new', search: { q: text, ...(language === 'search' ? { lang: 'search' } : {}) } } as never);
  const views: View[] = ['table', 'graph', 'json', 'plan'];
  useKeys([
    { keys: 'Ctrl+Enter', does: 'Run', run },
    { keys: 'Ctrl+s', does: 'Save as rule', run: saveRule },
    ...views.map((v, i) => ({ keys: `Alt+${i + 1}`, does: `Show as ${v}`, run: () => change({ view: v === 'table' ? undefined : v }) })),
  ]);
  const answer = useMemo(() => query.data && merged(query.data), [query.data]);
  const failed = query.data?.answers.filter((a) => a.error) ?? [];
  const cost = answer?.cost;
  return (
    <Page
      title="Explore"
      actions={
        <Button className="wide" onClick={saveRule}>
          Save as rule
        </Button>
      }
    >
      <div className="toolbar">
        <Segments<Language>
          label="Language"
          value={language}
          onChange={(l) => edit(l === 'search' ? firstSearch : (questions[0]?.gremlin ?? ''), l)}
          options={[
            { value: 'gremlin', label: 'Gremlin' },
            { value: 'search', label: 'Search' },
          ]}
        />
        {language === 'gremlin' && (
          <Select
            label="Question"
            value=""
            onChange={(gremlin) => {
              if (!gremlin) return;
              setTypeInText(offered.find((q) => q.gremlin === gremlin)?.type ?? '');
              edit(gremlin);
            }}
            options={[{ value: '', label: 'Begin with a question' }, ...offered.map((q) => ({ value: q.gremlin, label: withBlank(q) }))]}
          />
        )}
        {language === 'gremlin' && typeInText && text.includes(typeInText) && (
          <Select
            label="Type in the question"
            value={typeInText}
            onChange={(t) => {
              edit(text.replaceAll(`'${typeInText}'`, `'${t}'`));
              setTypeInText(t);
            }}
            options={(schema?.types ?? []).map((t) => ({ value: t.entityType, label: t.entityType }))}
          />
        )}
        <Select
          label="Account"
          value={account}
          onChange={(a) => change({ account: a || undefined })}
          options={[
            ...(language === 'search' ? [{ value: '', label: 'All accounts' }] : [{ value: 'all', label: 'All, one after the other' }]),
            ...accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName })),
          ]}
        />
        <Button look="go" icon="play" keys="Ctrl ↵" disabled={query.isFetching || (language === 'gremlin' && !account)} onClick={run}>
          Run
        </Button>
        {language === 'gremlin' && (
          <span className="end">
            <Segments<View>
              label="View"
              value={view}
              onChange={(v) => change({ view: v === 'table' ? undefined : v })}
              options={views.map((v) => ({ value: v, label: v === 'json' ? 'JSON' : sentence(v) }))}
            />
          </span>
        )}
        {answer && Object.keys(answer.entities).length > 0 && (
          <Button
            icon="download"
            aria-label="Save rows"
            onClick={() =>
              saveFile(
                'resources.csv',
                'text/csv',
                csv(
                  ['id', 'name', 'type', 'region', 'cloud_id'],
                  Object.values(answer.entities).map((e) => [e.entityId, e.entityName, e.entityType, e.region, e.xid]),
                ),
              )
            }
          />
        )}
      </div>
      <div className="explore-split">
        <div className="explore-main">
          <div className="editor-box explore-editor">
            <Suspense fallback={<Skeleton />}>
              <CodeEditor
                label="Query"
                value={text}
                language={language === 'search' ? 'Search' : 'Graph'}
                schema={schema}
                problems={problems}
                onChange={setText}
                onRun={run}
              />
            </Suspense>
          </div>
          {cost && (
            <div className="explore-cost small t3">
              <span>{extentOf(answer)}</span>
              <span className="cost-bar">
                <StackBar
                  total={1_000_000}
                  parts={[{ name: 'ramp', value: cost.traversers }]}
                  label={`${cost.traversers} of 1,000,000 steps`}
                />
              </span>
              <span>
                {count(cost.traversers)} of 1,000,000 steps · {cost.ranMs.toFixed(1)} ms
              </span>
            </div>
          )}
          {problems.length > 0 ? (
            <div className="region">
              <div className="note error" role="alert">
                <Mark name="error" />
                <span>
                  {problems
                    .map(
                      (p) =>
                        `${p.line ? `Line ${p.line}, column ${p.column ?? 1}: ` : ''}${sentence(p.message)}${p.hint ? `. ${sentence(p.hint)}` : ''}`,
                    )
                    .join('; ')}
                </span>
              </div>
            </div>
          ) : query.isError ? (
            <Failure padded error={query.error} what="the query" onRetry={() => void query.refetch()} />
          ) : null}
          {failed.map((f) => (
            <div key={f.account.cloudAccountId} className="region">
              <div className="note unknown">
                <Mark name="unknown" />
                <span>
                  <b>{f.account.cloudAccountName}</b> {f.error instanceof Error ? sentence(f.error.message) : 'did not answer'}
                </span>
              </div>
            </div>
          ))}
          {query.isFetching && (
            <div className="region">
              <Skeleton />
            </div>
          )}
          {language === 'gremlin' && answer && !query.isFetching && <Result answer={answer} view={view} />}
          {language === 'search' && asked && <SearchResult key={asked.n} query={asked.text} account={account} />}
          {!asked && (
            <Empty padded title={language === 'search' ? 'Search resources of every account' : 'Ask about one account'}>
              {language === 'search'
                ? 'Conditions such as property.encrypted = false, joined by AND, OR and NOT.'
                : 'Gremlin traverses the graph of its resources: begin with a question, or write a query.'}{' '}
              Ctrl Space completes names.
            </Empty>
          )}
          {!asked && language === 'search' && (
            <ul className="explore-questions" aria-label="To begin with">
              {searches.map((s) => (
                <li key={s.query}>
                  <Link
                    className="link"
                    to="/explore"
                    search={{ ...search, q: s.query } as never}
                    onClick={() => {
                      setText(s.query);
                      ask(s.query);
                    }}
                  >
                    {s.text}
                  </Link>{' '}
                  <code className="small t3">{s.query}</code>
                </li>
              ))}
            </ul>
          )}
          {!asked && language === 'gremlin' && (
            <ul className="explore-questions" aria-label="To begin with">
              {offered.map((q) => (
                <li key={q.text}>
                  <Link className="link" to="/explore" search={{ ...search, q: q.gremlin } as never} onClick={() => begin(q)}>
                    {q.text}
                  </Link>
                </li>
              ))}
            </ul>
          )}
        </div>
        <aside className="explore-past wide" aria-label="Earlier queries">
          <h2>Earlier queries</h2>
          {past.length === 0 ? (
            <p className="small t3">What you run is kept here, in this browser.</p>
          ) : (
            <ul>
              {past.slice(0, 50).map((q) => (
                <li key={`${q.language}${q.text}`}>
                  <button type="button" onClick={() => edit(q.text, q.language)}>
                    <code className="cut block">{q.text}</code>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </aside>
      </div>
    </Page>
  );
}
