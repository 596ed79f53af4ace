import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { posture, type ControlPosture, type Framework } from '../../api/posture';
import { listOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { StackBar } from '../../parts/Bars';
import { Button } from '../../parts/Button';
import { csv } from '../../parts/csv';
import { saveFile } from '../../parts/file';
import { Icon } from '../../parts/Icon';
import { useKeys } from '../../parts/keys';
import { Mark, severity, Word } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count } from '../../parts/text';
import { findingsQuery, frameworksQuery, open, useRules } from '../data';
import { levelName } from '../rules/Rules';
import { countVerdicts, sections, verdictOf, verdicts, verdictWords, type Verdict } from './verdicts';
import './compliance.css';

const postureQuery = (id: string) => ({ queryKey: ['posture', id], queryFn: async () => (await posture.post('/v1/compliance-frameworks/{framework_id}/posture', { path: { framework_id: id } })).results, staleTime: 60_000 });

function Frameworks({ frameworks, chosen }: { frameworks: Framework[]; chosen: string }) {
  const answers = useQueries({ queries: frameworks.map((f) => postureQuery(f.id)) });
  return (
    <nav className="frameworks" aria-label="Frameworks">
      <h2>Frameworks</h2>
      <ul>
        {frameworks.map((f, i) => {
          const n = answers[i]?.data && countVerdicts(answers[i].data);
          return (
            <li key={f.id}>
              <Link to={`/compliance/${encodeURIComponent(f.id)}`} aria-current={f.id === chosen ? 'true' : undefined}>
                <span className="row tight"><span className="cut strong">{f.name}</span><span className="small t3">{f.version}</span>{n && <span className="end small"><b>{n.pass}</b> <span className="t3">/ {n.violation + n.unknown + n.pass}</span></span>}</span>
                {n && <StackBar parts={verdicts.map((v) => ({ name: v, value: n[v] }))} label={verdicts.map((v) => `${n[v]} ${verdictWords[v].toLowerCase()}`).join(', ')} />}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

const Numbers = ({ of }: { of: { violating: number; unknown: number; passing: number } }) => (
  <>
    <td className="wide compliance-bar"><StackBar parts={[{ name: 'violation', value: of.violating }, { name: 'unknown', value: of.unknown }, { name: 'pass', value: of.passing }]} /></td>
    <td className={`num ${of.violating ? 'c-violation' : 't3'}`}>{of.violating ? count(of.violating) : '–'}</td>
    <td className={`num wide ${of.unknown ? 'c-unknown' : 't3'}`}>{of.unknown ? count(of.unknown) : '–'}</td>
    <td className="num wide t2">{of.passing ? count(of.passing) : '–'}</td>
  </>
);

function RuleRow({ id, findings }: { id: string; findings: number }) {
  const rule = useRules().get(id);
  return (
    <tr className="rule-row">
      <td><span className="row tight"><Mark name={severity(levelName(rule?.level ?? ''))} label /><Link className="cut" to={`/rules/${encodeURIComponent(id)}`}>{rule?.name ?? id}</Link><code className="small t3 wide">{rule?.displayName}</code></span></td>
      <td colSpan={5}>{findings > 0 ? <Link className="link" to="/findings" search={{ rule: id } as never}>{findings === 1 ? '1 finding' : `${count(findings)} findings`}</Link> : <span className="t3">no finding</span>}</td>
    </tr>
  );
}

function Control({ control: c, open: shown, onToggle, counts }: { control: ControlPosture; open: boolean; onToggle: () => void; counts: Record<string, { count: number }> }) {
  const verdict = verdictOf(c);
  return (
    <>
      <tr className={`control-row ${shown ? 'open' : ''}`} id={`control-${c.controlId}`}>
        <td><button type="button" className="row tight control-button" aria-expanded={shown} disabled={c.ruleIds.length === 0} onClick={onToggle}>{c.ruleIds.length > 0 ? <Icon name={shown ? 'down' : 'right'} small /> : <span className="control-gap" />}<span className="control-id">{c.controlId}</span><span className="control-title">{c.title}</span></button></td>
        <td><Word name={verdict}>{verdictWords[verdict]}</Word></td>
        <Numbers of={c} />
      </tr>
      {shown && c.ruleIds.map((id) => <RuleRow key={id} id={id} findings={counts[id]?.count ?? 0} />)}
    </>
  );
}

function Chosen({ framework, controls }: { framework: Framework; controls: ControlPosture[] }) {
  const { search, change } = useAddress();
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const [opened, setOpened] = useState<Set<string>>(new Set(search.control ? [search.control] : []));
  const counts = useQuery(findingsQuery({ filters: open, aggregations: { rule: { fieldName: 'ruleId', termsCount: 1000 } }, paginationInfo: { pageSize: 1 } })).data?.aggregations?.rule?.buckets ?? {};
  const n = countVerdicts(controls);
  const covered = n.violation + n.unknown + n.pass;
  const wanted = listOf(search.verdict) as Verdict[];
  const shown = controls.filter((c) => (wanted.length === 0 || wanted.includes(verdictOf(c))) && `${c.controlId} ${c.title}`.toLowerCase().includes((search.q ?? '').toLowerCase()));
  const flip = (set: Set<string>, key: string) => new Set(set.has(key) ? [...set].filter((k) => k !== key) : [...set, key]);
  const save = () => saveFile(`${framework.id}.csv`, 'text/csv', csv(['control', 'title', 'section', 'verdict', 'violating', 'unknown', 'passing', 'rules'], [['', `${framework.name} ${framework.version}, ${new Date().toISOString()}`, '', '', '', '', '', ''], ...controls.map((c) => [c.controlId, c.title, c.section, verdictWords[verdictOf(c)], c.violating, c.unknown, c.passing, c.ruleIds.join(' ')])]));
  useKeys([{ keys: 'p', does: 'Print', run: () => window.print() }]);
  return (
    <div className="framework">
      <div className="framework-top">
        <div className="row wrap"><h2 className="drawer-title">{framework.name}</h2><span className="t3">{framework.version}</span><span className="row end"><Button icon="print" onClick={() => window.print()}>Print</Button><Button icon="download" onClick={save}>CSV</Button></span></div>
        <div className="framework-figures">
          <div><span className="label">Controls that pass</span><span className="figure">{n.pass} <span className="of">of {covered} covered</span></span></div>
          {(['violation', 'unknown', 'none'] as const).map((v) => <div key={v}><span className="label row tight"><Mark name={v} />{verdictWords[v]}</span><span className="figure">{n[v]}</span></div>)}
          <p className="framework-note small t2">Unknown is not pass. {n.none} controls have no rule: a person must look.</p>
        </div>
      </div>
      <div className="toolbar">
        <SearchInput label="Search controls" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        <Segments label="Verdict" value={wanted[0] ?? 'all'} onChange={(v) => change({ verdict: v === 'all' ? undefined : v })} options={[{ value: 'all', label: 'All', count: controls.length }, ...verdicts.map((v) => ({ value: v as string, label: <><Mark name={v} /><span className="hide">{verdictWords[v]}</span></>, count: n[v] }))]} />
        <Button look="quiet" className="end" onClick={() => setOpened(opened.size ? new Set() : new Set(controls.map((c) => c.controlId)))}>{opened.size ? 'Close all' : 'Expand all'}</Button>
      </div>
      {shown.length === 0 ? <Empty padded title="No control matches" action={<Button onClick={() => change({ q: undefined, verdict: undefined })}>Clear all</Button>} /> : (
        <div className="table-scroll">
          <table className="table controls-table">
            <thead><tr><th>Control</th><th>Verdict</th><th className="wide">Resources</th><th className="num">Violating</th><th className="num wide">Unknown</th><th className="num wide">Passing</th></tr></thead>
            <tbody>
              {sections(shown).map((s) => {
                const total = { violating: s.controls.reduce((a, c) => a + c.violating, 0), unknown: s.controls.reduce((a, c) => a + c.unknown, 0), passing: s.controls.reduce((a, c) => a + c.passing, 0) };
                const sv = countVerdicts(s.controls);
                return (
                  <Fragment key={s.name}>
                    <tr className="section-row"><td><button type="button" className="row tight control-button" aria-expanded={!closed.has(s.name)} onClick={() => setClosed(flip(closed, s.name))}><Icon name={closed.has(s.name) ? 'right' : 'down'} small /><b>{s.name || 'Other'}</b><span className="small t3">{s.controls.length}</span></button></td><td><span className="row tight">{verdicts.filter((v) => sv[v] > 0).map((v) => <span key={v} className="row tight small section-verdict"><Mark name={v} label />{sv[v]}</span>)}</span></td><Numbers of={total} /></tr>
                    {!closed.has(s.name) && s.controls.map((c) => <Control key={c.id} control={c} open={opened.has(c.controlId)} onToggle={() => setOpened(flip(opened, c.controlId))} counts={counts} />)}
                  </Fragment>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

/** Where an audit would fail, control by control, and what nobody checks. */
export default function Compliance() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const frameworks = useQuery(frameworksQuery);
  const chosen = id ?? frameworks.data?.[0]?.id ?? '';
  const controls = useQuery({ ...postureQuery(chosen), enabled: chosen !== '' });
  const framework = frameworks.data?.find((f) => f.id === chosen);
  return (
    <Page title="Compliance">
      <Answer query={frameworks} what="the frameworks" padded>
        {(all) => all.length === 0 ? <Empty padded title="There is no framework" /> : (
          <div className="compliance">
            <Frameworks frameworks={all} chosen={chosen} />
            {framework ? <Answer query={controls} what="the posture" padded>{(c) => <Chosen key={chosen} framework={framework} controls={c} />}</Answer> : <Empty padded title="There is no such framework" />}
          </div>
        )}
      </Answer>
    </Page>
  );
}
