import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Rule } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Conflict, differencesOf } from '../../parts/Conflict';
import { Dialog } from '../../parts/Dialog';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Menu } from '../../parts/Menu';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Skeleton } from '../../parts/states';
import { count, plural, sentence } from '../../parts/text';
import { clockTime } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { accountsQuery, schemaQuery } from '../data';
import { queryProblems } from '../editor/problems';
import { CheckLine } from './CheckLine';
import { DryRunResult } from './DryRunResult';
import { examples } from './examples';
import { RuleForm } from './RuleForm';
import { RuleHistory } from './RuleHistory';
import { levelName } from './Rules';
import { addRule, draftOf, labels, queryText, readRule, saveRule, withChanges, type Draft, type Versioned } from './save';
import { useCheck } from './useCheck';
import { totals, useDryRun } from './useDryRun';
import '../findings/findings.css';
import './rules.css';

const CodeEditor = lazy(() => import('../editor/CodeEditor'));

const empty: Draft = {
  name: '',
  displayName: '',
  provider: 'aws',
  level: 'Med',
  category: 'Security',
  service: '',
  description: '',
  suggestedAction: '',
  documentationLink: '',
  query: examples[0]?.query ?? '',
  language: 'Graph',
  complianceControlIds: [],
  visualizationQuery: '',
};

/** An id made from the name of a new rule, for when the field Id is left empty. */
const idOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

function Editor({ given, first, onDeleting }: { given: Versioned | undefined; first: Draft; onDeleting?: (going: boolean) => void }) {
  // The version that the draft is based on. If somebody else saves another one meanwhile, saving is a conflict.
  const [version, setVersion] = useState(given);
  const rule = version?.rule;
  // The rule that the first save created. If the user typed meanwhile and stays on this page, the next save changes that rule.
  const [made, setMade] = useState<Versioned>();
  const base = version ?? made;
  const [draft, setDraft] = useState(first);
  // The draft without unsaved changes. What is typed while a save is under way makes another draft, which is not saved.
  const [kept, setKept] = useState(draft);
  const dirty = draft !== kept;
  const [refusal, setRefusal] = useState<{ error: ApiError; query: string }>();
  const [saving, setSaving] = useState(false);
  const [asking, setAsking] = useState<'delete'>();
  const [conflict, setConflict] = useState<{ theirs: Versioned; status: Rule['status'] }>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const forbidden = useRefusal('analyst', 'rules', 'organisation');
  const unfinished = draft.unfinished?.length ? `The value of ${draft.unfinished.join(', ')} is not valid` : undefined;
  const refused = forbidden ?? unfinished;
  const schema = useQuery(schemaQuery).data;
  const accounts = (useQuery(accountsQuery).data ?? []).filter((a) => a.provider === draft.provider);
  const [only, setOnly] = useState('');
  const tried = accounts.some((a) => a.cloudAccountId === only) ? accounts.filter((a) => a.cloudAccountId === only) : accounts;
  const { run, busy, start } = useDryRun();
  const check = useCheck(draft);
  const native = rule?.source === 'Native';
  const blocker = useBlocker({ shouldBlockFn: () => dirty, enableBeforeUnload: () => dirty, withResolver: true });
  const change = (patch: Partial<Draft>) => setDraft((d) => ({ ...d, ...patch }));
  const begin = (unchanged: Draft) => {
    setDraft(unchanged);
    setKept(unchanged);
  };
  const failure = run?.query === queryText(draft) ? run.outcomes.find((o) => o.error)?.error : undefined;
  const refusedProblems = queryProblems(refusal?.error).filter((p) => p.path === 'query' || p.path === 'queryString');
  // A refused query that was changed since then may be valid now.
  const outdated = refusedProblems.length > 0 && refusal?.query !== queryText(draft);
  const error = outdated ? undefined : refusal?.error;
  const saveProblems = outdated ? [] : refusedProblems;
  const problems = check.problems.length ? check.problems : [...queryProblems(failure), ...saveProblems];
  // Without an account, the result would read as if nothing violated the rule.
  const testable = !busy && !unfinished && tried.length > 0;
  const test = () => {
    if (testable) void start(draft, tried);
  };

  const saved = async (text: string, id?: string) => {
    await client.invalidateQueries({ queryKey: ['rules'] });
    await client.invalidateQueries({ queryKey: ['findings'] });
    showToast(text);
    if (id) setTimeout(() => void navigate({ to: `/rules/${encodeURIComponent(id)}` } as never));
  };
  /** Stores the draft. Returns the message for the user and, if the screen should go to another rule, its id. */
  const store = async (status: Rule['status'], replaced: Versioned | undefined): Promise<[string, string?]> => {
    if (replaced) {
      await saveRule(draft, status, replaced, setVersion);
      setVersion(await readRule(replaced.rule.id));
      setKept(draft);
      return [
        status === replaced.rule.status ? 'Saved' : `Saved; the rule is ${status.toLowerCase()}`,
        rule ? undefined : replaced.rule.id,
      ];
    }
    const added = await addRule({ ...draft, displayName: draft.displayName || idOf(draft.name) }, status);
    const stored = draftOf(added.rule);
    setMade(added);
    setDraft((now) => (now === draft ? stored : withChanges(stored, draft, now)));
    setKept(stored);
    return [status === 'Enabled' ? 'Saved and enabled' : 'Saved', added.rule.id];
  };
  const save = async (status: Rule['status'], replaced = base) => {
    // A second save would be based on the version that the first one replaces, or add a second rule.
    if (saving) return;
    if (unfinished) return showToast(unfinished);
    setSaving(true);
    setRefusal(undefined);
    let stored: [string, string?] | undefined;
    try {
      stored = await store(status, replaced);
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      if (cause.status === 412 && replaced) setConflict({ theirs: await readRule(replaced.rule.id), status });
      else setRefusal({ error: cause, query: queryText(draft) });
    } finally {
      setSaving(false);
    }
    if (stored) await saved(...stored);
  };
  const remove = async () => {
    onDeleting?.(true);
    try {
      await posture.delete('/v1/rules/{rule_id}', { path: { rule_id: rule?.id ?? '' } });
    } catch (cause) {
      onDeleting?.(false);
      throw cause;
    }
    setKept(draft);
    await client.invalidateQueries({ queryKey: ['rules'], exact: true }); // the list
    await client.invalidateQueries({ queryKey: ['rules', 'count'] });
    setTimeout(() => void navigate({ to: '/rules' } as never));
  };
  useKeys([
    { keys: 'Ctrl+Enter', does: 'Dry run', run: test },
    { keys: 'Ctrl+s', does: 'Save', run: () => void save(rule?.status ?? 'Disabled') },
  ]);
  const t = run && totals(run);
  return (
    <Page
      title={rule?.name ?? 'New rule'}
      crumbs={<Link to="/rules">Rules</Link>}
      beside={
        rule ? (
          <span className={`pill ${rule.status === 'Enabled' ? 'ok' : ''} wide`}>{rule.status}</span>
        ) : (
          <span className="pill accent">Draft</span>
        )
      }
      actions={
        native ? (
          <>
            {dirty && (
              <Button writes refused={refused} disabled={saving} onClick={() => void save(rule.status)}>
                Save
              </Button>
            )}
            <Link className="btn primary" to="/rules/new" search={{ copy: rule.id } as never}>
              Copy as custom
            </Link>
          </>
        ) : (
          <>
            {rule && (
              <Button look="danger" writes className="wide" refused={forbidden} onClick={() => setAsking('delete')}>
                Delete
              </Button>
            )}
            {dirty && (
              <Button
                look="quiet"
                className="wide"
                onClick={() => {
                  begin(base ? draftOf(base.rule) : first); // the stored rule: a save that failed half-way stored a part of the draft
                  setRefusal(undefined);
                }}
              >
                Discard
              </Button>
            )}
            <Button writes refused={refused} disabled={saving} onClick={() => void save('Disabled')}>
              Save disabled
            </Button>
            <Button look="primary" writes refused={refused} disabled={saving} onClick={() => void save('Enabled')}>
              Save and enable
            </Button>
          </>
        )
      }
    >
      <div className="rule">
        <div className="rule-left">
          <div className="toolbar">
            <Segments<Draft['language']>
              label="Language"
              value={draft.language}
              onChange={(language) => !native && change({ language })}
              options={[
                { value: 'Graph', label: 'Gremlin' },
                { value: 'Search', label: 'Search' },
              ]}
            />
            <span className="t2 wide">
              {native
                ? 'This rule comes with Vigil; its query is read-only.'
                : draft.language === 'Search'
                  ? 'Every resource that matches is a violation.'
                  : 'Every vertex this query returns is a violation.'}
            </span>
            <span className="end row rule-links">
              <a className="link wide" href="/docs/resources" target="_blank" rel="noreferrer">
                Schema
              </a>
              {!native && draft.language === 'Graph' && (
                <Menu
                  label="Examples"
                  text="Examples"
                  className="wide"
                  choices={examples.map((e) => ({ label: e.label, run: () => change({ query: e.query }) }))}
                />
              )}
              {rule && (
                <>
                  <Link className="link" to="/findings" search={{ rule: rule.id } as never}>
                    Findings of this rule
                  </Link>
                  <Link className="link" to={`/rules/${encodeURIComponent(rule.id)}/unknown`}>
                    Unknown
                  </Link>
                  <RuleHistory id={rule.id} />
                </>
              )}
            </span>
          </div>
          <div className="editor-box">
            <Suspense fallback={<Skeleton />}>
              <CodeEditor
                label="Query"
                value={draft.query}
                readOnly={native}
                language={draft.language}
                schema={schema}
                problems={problems}
                onChange={(query) => query !== draft.query && change({ query })}
                onRun={test}
              />
            </Suspense>
          </div>
          <div className="editor-foot" aria-live="polite">
            <CheckLine problems={problems} isEmpty={draft.query.trim() === ''} reads={check.reads} failure={check.failure} />
          </div>
          {error && problems.length === 0 && (
            <div className="region">
              <div className="note error" role="alert">
                <Mark name="error" />
                <span>
                  <b>{sentence(error.message)}</b> {error.fields.map((f) => `${f.path}: ${f.message}`).join('; ')}
                </span>
              </div>
            </div>
          )}
          <section className="dry" aria-label="Dry run">
            <div className="toolbar dry-toolbar">
              <h2>Dry run</h2>
              <Select
                label="Accounts of the dry run"
                value={tried === accounts ? '' : only}
                onChange={setOnly}
                options={[
                  { value: '', label: `All ${plural(accounts.length, 'account')}` },
                  ...accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName })),
                ]}
              />
              <Button look="go" icon="play" keys="Ctrl ↵" disabled={!testable} onClick={test}>
                {busy ? 'Running…' : 'Run'}
              </Button>
              {run && t && (
                <span className="small t3">
                  {clockTime(run.at)} · {count(t.cost)} steps · {t.ms.toFixed(1)} ms · nothing was kept
                </span>
              )}
            </div>
            {!run && (
              <p className="t3 dry-hint">
                A dry run shows which resources violate the query now, which are unknown, and which findings enabling it would raise.
                Nothing is kept.
              </p>
            )}
            {run && <DryRunResult run={run} level={levelName(draft.level)} old={run.query !== queryText(draft)} rule={rule} />}
          </section>
        </div>
        <RuleForm draft={draft} change={change} fixed={native} stored={!!rule} error={error} />
      </div>
      {asking === 'delete' && rule && (
        <Confirm title={`Delete ${rule.name}`} action="Delete" run={remove} onClose={() => setAsking(undefined)}>
          Its findings are resolved, and it is not evaluated any more.
        </Confirm>
      )}
      {conflict && (
        <Conflict
          what="the rule"
          differences={differencesOf(labels, { ...draft }, { ...draftOf(conflict.theirs.rule) })}
          onClose={() => setConflict(undefined)}
          onTheirs={() => {
            setVersion(conflict.theirs);
            begin(draftOf(conflict.theirs.rule));
            setConflict(undefined);
            void client.invalidateQueries({ queryKey: ['rules'] });
          }}
          onMine={() => {
            setConflict(undefined);
            void save(conflict.status, conflict.theirs);
          }}
        />
      )}
      {blocker.status === 'blocked' && (
        <Dialog title="The rule is not saved" onClose={blocker.reset}>
          <p className="t2">What you changed is lost when you leave.</p>
          <div className="dialog-foot">
            <Button onClick={blocker.reset}>Stay</Button>
            <Button look="danger" onClick={blocker.proceed}>
              Leave
            </Button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}

/** One rule: its query, what it would find, and its texts. */
export default function RuleEditor() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const { search } = useAddress();
  const source = id ?? search.copy;
  // A rule that is being deleted is not requested: a change of any rule makes this screen request it again, and the answer would be 404.
  const [deleting, setDeleting] = useState(false);
  const query = useQuery({
    queryKey: ['rules', source, 'version'],
    enabled: !!source && !deleting,
    queryFn: () => readRule(source ?? ''),
    refetchOnWindowFocus: false,
    staleTime: 0,
    gcTime: 0, // the editor keeps the first answer that it gets, which must not be one from an earlier visit
  });
  if (!source)
    return (
      <Editor
        key="new"
        given={undefined}
        first={{ ...empty, ...(search.q ? { query: search.q, language: search.lang === 'search' ? 'Search' : 'Graph' } : {}) }}
      />
    );
  if (!query.data)
    return (
      <Page title="Rule" crumbs={<Link to="/rules">Rules</Link>}>
        <Answer query={query} what="the rule" padded>
          {() => null}
        </Answer>
      </Page>
    );
  const { rule } = query.data;
  return id ? (
    <Editor key={id} given={query.data} first={draftOf(rule)} onDeleting={setDeleting} />
  ) : (
    <Editor
      key={`copy ${source}`}
      given={undefined}
      first={{ ...draftOf(rule), name: `${rule.name} (copy)`, displayName: `${rule.displayName}-copy` }}
    />
  );
}
