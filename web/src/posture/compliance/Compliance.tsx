import { failureText } from '../../parts/failure';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { download } from '../../api/download';
import { useRefusal } from '../../api/session';
import { posture, type ControlPosture, type Framework } from '../../api/posture';
import { listOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { StackBar } from '../../parts/Bars';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Icon } from '../../parts/Icon';
import { useKeys } from '../../parts/keys';
import { Mark, severity, Word } from '../../parts/marks';
import { Menu } from '../../parts/Menu';
import { SearchInput } from '../../parts/SearchInput';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, plural } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { accountsQuery, frameworksQuery, useRules } from '../data';
import { levelName } from '../rules/Rules';
import { NewFramework } from './NewFramework';
import { countVerdicts, sections, verdictOf, verdicts, verdictWords, type Verdict } from './verdicts';
import './compliance.css';

const postureQuery = (id: string, account = '', details = false) => ({
  queryKey: ['posture', id, account, details],
  queryFn: async () =>
    (
      await posture.post('/v1/compliance-frameworks/{framework_id}/posture', {
        path: { framework_id: id },
        body: { ...(account ? { cloudAccountIds: [account] } : {}), details },
      })
    ).results,
  staleTime: 60_000,
});

/** Names of frameworks as people say them, for a narrow list. */
const shortNames: [RegExp, string][] = [
  [/Amazon Web Services/, 'AWS'],
  [/Microsoft Azure/, 'Azure'],
  [/Google Cloud Platform/, 'GCP'],
  [/ Annex A/, ''],
  [/ Foundations? Benchmark/, ''],
  [/Foundational Security Best Practices/, 'FSBP'],
  [/Special Publication /, ''],
  [/Cybersecurity Framework/, 'CSF'],
  [/Payment Card Industry Data Security Standard/, 'PCI DSS'],
  [/ Trust Services Criteria/, ''],
  [/ Security Rule/, ''],
];
const shortName = (name: string) => shortNames.reduce((text, [long, short]) => text.replace(long, short), name);

function Frameworks({ frameworks, chosen, onNew }: { frameworks: Framework[]; chosen: string; onNew: () => void }) {
  const refused = useRefusal('analyst', 'organisation');
  const answers = useQueries({ queries: frameworks.map((f) => postureQuery(f.id)) });
  return (
    <nav className="frameworks" aria-label="Frameworks">
      <div className="row">
        <h2>Frameworks</h2>
        <button type="button" className="link end" disabled={!!refused} title={refused} onClick={onNew}>
          New
        </button>
      </div>
      <ul>
        {frameworks.map((f, i) => {
          const n = answers[i]?.data && countVerdicts(answers[i].data);
          return (
            <li key={f.id}>
              <Link to={`/compliance/${encodeURIComponent(f.id)}`} aria-current={f.id === chosen ? 'true' : undefined}>
                <span className="row tight">
                  <span className="cut strong" title={`${f.name} ${f.version}`}>
                    {shortName(f.name)}
                  </span>
                  <span className="small t3">{f.version}</span>
                  {n && (
                    <span className="end small">
                      <b>{n.pass}</b> <span className="t3">/ {n.violation + n.unknown + n.pass}</span>
                    </span>
                  )}
                </span>
                {n && (
                  <StackBar
                    parts={verdicts.map((v) => ({ name: v, value: n[v] }))}
                    label={verdicts.map((v) => `${n[v]} ${verdictWords[v].toLowerCase()}`).join(', ')}
                  />
                )}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

interface Sums {
  violating: number;
  unknown: number;
  passing: number;
  notApplicable: number;
  notListed: number;
}
const zero: Sums = { violating: 0, unknown: 0, passing: 0, notApplicable: 0, notListed: 0 };

/** Resources that are unknown, and types that were not listed: of those nobody knows how many there are. */
function UnknownCell({ of, rule }: { of: Sums; rule?: string }) {
  const text = [of.unknown > 0 && count(of.unknown), of.notListed > 0 && `${plural(of.notListed, 'type')} not listed`]
    .filter(Boolean)
    .join(', ');
  if (!text) return <td className="num wide t3">–</td>;
  return <td className="num wide c-unknown">{rule ? <Link to={`/rules/${encodeURIComponent(rule)}/unknown`}>{text}</Link> : text}</td>;
}

const Numbers = ({ of, rule }: { of: Sums; rule?: string }) => (
  <>
    <td className="wide compliance-bar">
      <StackBar
        parts={[
          { name: 'violation', value: of.violating },
          { name: 'unknown', value: of.unknown },
          { name: 'pass', value: of.passing },
        ]}
      />
    </td>
    <td className={`num ${of.violating ? 'c-violation' : 't3'}`}>{of.violating ? count(of.violating) : '–'}</td>
    <UnknownCell of={of} {...(rule ? { rule } : {})} />
    <td className="num wide t2">{of.passing ? count(of.passing) : '–'}</td>
    <td className="num wide t3">{of.notApplicable ? count(of.notApplicable) : '–'}</td>
  </>
);

function RuleRow({ id, sum, account }: { id: string; sum: Sums | undefined; account: string | undefined }) {
  const rule = useRules().get(id);
  const n = sum?.violating ?? 0;
  return (
    <tr className="rule-row">
      <td>
        <span className="row tight">
          <Mark name={severity(levelName(rule?.level ?? ''))} label />
          <Link className="cut" to={`/rules/${encodeURIComponent(id)}`}>
            {rule?.name ?? id}
          </Link>
          <code className="small t3 wide">{rule?.displayName}</code>
        </span>
      </td>
      <td>
        {n > 0 ? (
          <Link className="link" to="/findings" search={{ rule: id, account } as never}>
            {n === 1 ? '1 finding' : `${count(n)} findings`}
          </Link>
        ) : (
          <span className="t3">no finding</span>
        )}
      </td>
      <Numbers of={sum ?? zero} rule={id} />
    </tr>
  );
}

function Control({
  control: c,
  open: shown,
  onToggle,
  account,
}: {
  control: ControlPosture;
  open: boolean;
  onToggle: () => void;
  account: string | undefined;
}) {
  const verdict = verdictOf(c);
  return (
    <>
      <tr className={`control-row ${shown ? 'open' : ''}`} id={`control-${c.controlId}`}>
        <td>
          <button
            type="button"
            className="row tight control-button"
            aria-expanded={shown}
            disabled={c.ruleIds.length === 0}
            onClick={onToggle}
          >
            {c.ruleIds.length > 0 ? <Icon name={shown ? 'down' : 'right'} small /> : <span className="control-gap" />}
            <span className="control-id">{c.controlId}</span>
            <span className="control-title">{c.title}</span>
          </button>
        </td>
        <td>
          <Word name={verdict}>{verdict === 'none' && c.assessment === 'manual' ? 'A person looks' : verdictWords[verdict]}</Word>
        </td>
        <Numbers of={c} />
      </tr>
      {shown &&
        (c.unread ?? []).map((u) => (
          <tr key={`${u.cloudAccountId}${u.entityType}${u.region}`} className="rule-row">
            <td colSpan={7}>
              <span className="row tight">
                <Mark name="unknown" label />
                <span className="t2">
                  {u.entityType} in {u.region || 'every region'} was not listed: {u.why}{' '}
                  <Link className="inline-link" to={`/accounts/${encodeURIComponent(u.cloudAccountId)}`}>
                    Fix access
                  </Link>
                </span>
              </span>
            </td>
          </tr>
        ))}
      {shown && c.ruleIds.map((id) => <RuleRow key={id} id={id} sum={c.rules?.[id]} account={account} />)}
    </>
  );
}

function Chosen({ framework, controls }: { framework: Framework; controls: ControlPosture[] }) {
  const { search, change } = useAddress();
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const [opened, setOpened] = useState<Set<string>>(new Set(search.control ? [search.control] : []));
  const accounts = useQuery(accountsQuery).data ?? [];
  const refused = useRefusal('analyst', 'organisation');
  const client = useQueryClient();
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const n = countVerdicts(controls);
  const covered = n.violation + n.unknown + n.pass;
  const wanted = listOf(search.verdict) as Verdict[];
  const shown = controls.filter(
    (c) =>
      (wanted.length === 0 || wanted.includes(verdictOf(c))) &&
      `${c.controlId} ${c.title}`.toLowerCase().includes((search.q ?? '').toLowerCase()),
  );
  const flip = (set: Set<string>, key: string) => new Set(set.has(key) ? [...set].filter((k) => k !== key) : [...set, key]);
  const save = async (format: 'csv' | 'jsonl') => {
    try {
      await download(
        `/v1/compliance-frameworks/${encodeURIComponent(framework.id)}/posture/export`,
        { ...(search.account ? { cloudAccountIds: [search.account] } : {}), format },
        `${framework.id}.${format}`,
      );
      showToast(`Saved as ${framework.id}.${format}`);
    } catch (cause) {
      showToast(failureText(cause));
    }
  };
  const walk = (opens: boolean) => {
    const button = document.activeElement;
    if (button instanceof HTMLButtonElement && button.matches('.control-button') && (button.ariaExpanded === 'true') !== opens)
      button.click();
  };
  useKeys([
    { keys: 'p', does: 'Print', run: () => window.print() },
    { keys: 'ArrowRight', does: 'Open the control', run: () => walk(true) },
    { keys: 'ArrowLeft', does: 'Close the control', run: () => walk(false) },
  ]);
  return (
    <div className="framework">
      <div className="framework-top">
        <div className="row wrap">
          <h2 className="drawer-title">{framework.name}</h2>
          <span className="t3">{framework.version}</span>
          <span className="row end">
            <Button icon="print" onClick={() => window.print()}>
              Print
            </Button>
            <Menu
              label="Export"
              icon="download"
              text="Export"
              choices={[
                { label: 'CSV, for spreadsheets', run: () => void save('csv') },
                { label: 'JSON lines, for programs', run: () => void save('jsonl') },
              ]}
            />
            {framework.custom && (
              <Button look="danger" changes refused={refused} onClick={() => setRemoving(true)}>
                Delete
              </Button>
            )}
          </span>
        </div>
        <div className="framework-figures">
          <div>
            <span className="label">Controls that pass</span>
            <span className="figure">
              {n.pass} <span className="of">of {covered} covered</span>
            </span>
          </div>
          {(['violation', 'unknown', 'none'] as const).map((v) => (
            <div key={v}>
              <span className="label row tight">
                <Mark name={v} />
                {verdictWords[v]}
              </span>
              <span className="figure">{n[v]}</span>
            </div>
          ))}
          <p className="framework-note small t2">
            Unknown is not pass. {n.none === 1 ? '1 control has' : `${n.none} controls have`} no rule: a person must look.
            {n.nothing > 0 && ` ${n.nothing} have no resources to check.`}
          </p>
        </div>
      </div>
      <div className="toolbar">
        <SearchInput label="Search controls" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        <Segments
          label="Verdict"
          value={wanted[0] ?? 'all'}
          onChange={(v) => change({ verdict: v === 'all' ? undefined : v })}
          options={[
            { value: 'all', label: 'All', count: controls.length },
            ...verdicts.map((v) => ({
              value: v as string,
              label: (
                <>
                  <Mark name={v} />
                  <span className="hide">{verdictWords[v]}</span>
                </>
              ),
              count: n[v],
            })),
          ]}
        />
        <span className="end">
          <Select
            label="Account"
            value={search.account ?? ''}
            onChange={(a) => change({ account: a || undefined })}
            options={[
              { value: '', label: 'All accounts' },
              ...accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName })),
            ]}
          />
        </span>
        <Button look="quiet" onClick={() => setOpened(opened.size ? new Set() : new Set(controls.map((c) => c.controlId)))}>
          {opened.size ? 'Close all' : 'Expand all'}
        </Button>
      </div>
      {shown.length === 0 ? (
        <Empty
          padded
          title="No control matches"
          action={<Button onClick={() => change({ q: undefined, verdict: undefined })}>Clear all</Button>}
        />
      ) : (
        <div className="table-scroll">
          <table className="table controls-table">
            <thead>
              <tr>
                <th>Control</th>
                <th>Verdict</th>
                <th className="wide">Resources</th>
                <th className="num">Violating</th>
                <th className="num wide">Unknown</th>
                <th className="num wide">Passing</th>
                <th className="num wide" title="Resources of the rules’ types that the rules do not apply to">
                  Not applicable
                </th>
              </tr>
            </thead>
            <tbody>
              {sections(shown).map((s) => {
                const total = Object.fromEntries(
                  (Object.keys(zero) as (keyof Sums)[]).map((k) => [k, s.controls.reduce((sum, c) => sum + c[k], 0)]),
                ) as unknown as Sums;
                const sv = countVerdicts(s.controls);
                return (
                  <Fragment key={s.name}>
                    <tr className="section-row">
                      <td>
                        <button
                          type="button"
                          className="row tight control-button"
                          aria-expanded={!closed.has(s.name)}
                          onClick={() => setClosed(flip(closed, s.name))}
                        >
                          <Icon name={closed.has(s.name) ? 'right' : 'down'} small />
                          <b>{s.name || 'Other'}</b>
                          <span className="small t3">{s.controls.length}</span>
                        </button>
                      </td>
                      <td>
                        <span className="row tight">
                          {verdicts
                            .filter((v) => sv[v] > 0)
                            .map((v) => (
                              <span key={v} className="row tight small section-verdict">
                                <Mark name={v} label />
                                {sv[v]}
                              </span>
                            ))}
                        </span>
                      </td>
                      <Numbers of={total} />
                    </tr>
                    {!closed.has(s.name) &&
                      s.controls.map((c) => (
                        <Control
                          key={c.id}
                          control={c}
                          open={opened.has(c.controlId)}
                          onToggle={() => setOpened(flip(opened, c.controlId))}
                          account={search.account}
                        />
                      ))}
                  </Fragment>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      <section className="print-only">
        <h2>Unknown</h2>
        <p>
          {new Date().toISOString()}, {search.account ? `account ${search.account}` : 'all accounts'}
        </p>
        <ul>
          {controls
            .filter((c) => verdictOf(c) === 'unknown')
            .map((c) => (
              <li key={c.id}>
                {c.controlId} {c.title}
              </li>
            ))}
        </ul>
      </section>
      {removing && (
        <Confirm
          title={`Delete ${framework.name}`}
          action="Delete"
          onClose={() => setRemoving(false)}
          run={async () => {
            await posture.delete('/v1/compliance-frameworks/{framework_id}', { path: { framework_id: framework.id } });
            await client.invalidateQueries({ queryKey: ['frameworks'] });
            void navigate({ to: '/compliance' } as never);
          }}
        >
          Its controls are not shown any more; rules stay as they are.
        </Confirm>
      )}
    </div>
  );
}

/** Where an audit would fail, control by control, and what nobody checks. */
export default function Compliance() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const frameworks = useQuery(frameworksQuery);
  const chosen = id ?? frameworks.data?.[0]?.id ?? '';
  const { search } = useAddress();
  const [adding, setAdding] = useState(false);
  const controls = useQuery({ ...postureQuery(chosen, search.account, true), enabled: chosen !== '' });
  const framework = frameworks.data?.find((f) => f.id === chosen);
  return (
    <Page title="Compliance">
      <Answer query={frameworks} what="the frameworks" padded>
        {(all) =>
          all.length === 0 ? (
            <Empty padded title="No frameworks" />
          ) : (
            <div className="compliance">
              <Frameworks frameworks={all} chosen={chosen} onNew={() => setAdding(true)} />
              {framework ? (
                <Answer query={controls} what="the posture" padded>
                  {(c) => <Chosen key={chosen} framework={framework} controls={c} />}
                </Answer>
              ) : (
                <Empty padded title="This framework does not exist" />
              )}
            </div>
          )
        }
      </Answer>
      {adding && <NewFramework onClose={() => setAdding(false)} />}
    </Page>
  );
}
