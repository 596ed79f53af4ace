import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Fragment, useState } from 'react';
import { download } from '../../api/download';
import { useRefusal } from '../../api/session';
import { posture, type ControlPosture, type Framework } from '../../api/posture';
import { listOf, useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Icon } from '../../parts/Icon';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Menu } from '../../parts/Menu';
import { SearchInput } from '../../parts/SearchInput';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { plural } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { accountsQuery, frameworksQuery, useAccountNames, useRules } from '../data';
import { ControlTrend } from './ControlTrend';
import { Control, Numbers, zero, type Sums } from './controlRows';
import { Frameworks, postureQuery } from './Frameworks';
import { NewFramework } from './NewFramework';
import { countUnconfirmed, countVerdicts, findingsOf, sections, verdictOf, verdicts, verdictWords, type Verdict } from './verdicts';
import './compliance.css';

/** The first page of a printed posture: when it was printed, for which accounts, and its unknown controls. */
function PrintedHead({ controls, account, accounts }: { controls: ControlPosture[]; account: string | undefined; accounts: number }) {
  const unknown = controls.filter((c) => verdictOf(c) === 'unknown');
  return (
    <section className="print-only">
      <p>
        {new Date().toISOString()}, {account ? `account ${account}` : plural(accounts, 'account')}
      </p>
      <h2>{plural(unknown.length, 'unknown control')}</h2>
      <ul>
        {unknown.map((c) => (
          <li key={c.id}>
            {c.controlId} {c.title}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The end of the sentence "Unknown is not pass": the accounts in which types of the framework could not be listed. */
function notListed(controls: ControlPosture[], accountName: (id: string) => string): string {
  const types = new Map<string, Set<string>>();
  for (const u of controls.flatMap((c) => c.unread ?? []))
    types.set(u.cloudAccountId, (types.get(u.cloudAccountId) ?? new Set()).add(u.entityType));
  const parts = [...types].slice(0, 2).map(([id, t]) => `${accountName(id)} could not list ${plural(t.size, 'type')}`);
  return parts.length ? `: ${parts.join(', ')}${types.size > 2 ? ` and ${types.size - 2} more accounts` : ''}` : '';
}

function Chosen({ framework, controls }: { framework: Framework; controls: ControlPosture[] }) {
  const { search, change } = useAddress();
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const [opened, setOpened] = useState<Set<string>>(new Set(search.control ? [search.control] : []));
  const accounts = useQuery(accountsQuery).data ?? [];
  const accountName = useAccountNames();
  const refused = useRefusal('analyst', 'rules', 'organisation');
  const client = useQueryClient();
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const n = countVerdicts(controls);
  const covered = n.violation + n.unknown + n.pass;
  const rules = useRules();
  const unconfirmed = countUnconfirmed(controls, (rule) => rules.get(rule)?.unconfirmedControlIds);
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
  const setFocusedOpen = (open: boolean) => {
    const button = document.activeElement;
    if (button instanceof HTMLButtonElement && button.matches('.control-button') && (button.ariaExpanded === 'true') !== open)
      button.click();
  };
  useKeys([
    { keys: 'p', does: 'Print', run: () => window.print() },
    { keys: 'ArrowRight', does: 'Open the control', run: () => setFocusedOpen(true) },
    { keys: 'ArrowLeft', does: 'Close the control', run: () => setFocusedOpen(false) },
  ]);
  return (
    <div className="framework">
      <PrintedHead controls={controls} account={search.account ? accountName(search.account) : undefined} accounts={accounts.length} />
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
              <Button look="danger" writes refused={refused} onClick={() => setRemoving(true)}>
                Delete
              </Button>
            )}
          </span>
        </div>
        <div className="framework-figures">
          <button type="button" onClick={() => change({ verdict: 'pass' })}>
            <span className="label">Controls that pass</span>
            <span className="figure">
              {n.pass} <span className="of">of {covered} covered</span>
            </span>
          </button>
          {(['violation', 'unknown', 'none'] as const).map((v) => (
            <button key={v} type="button" onClick={() => change({ verdict: v })}>
              <span className="label row tight">
                <Mark name={v} />
                {verdictWords[v]}
              </span>
              <span className="figure">{n[v]}</span>
            </button>
          ))}
          <p className="framework-note small t2">
            Unknown is not pass{notListed(controls, accountName)}.{' '}
            {n.none === 1 ? '1 control has no rule: assess it manually.' : `${n.none} controls have no rule: assess them manually.`}
            {n.nothing > 0 && ` ${n.nothing} have no resources to check.`}
            {unconfirmed > 0 &&
              ` ${plural(unconfirmed, 'control has', 'controls have')} only rules that no published mapping confirms: have an auditor check them.`}
          </p>
        </div>
        <ControlTrend framework={framework.id} account={search.account} />
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
                <th className="num wide">Violating</th>
                <th className="num wide">Unknown</th>
                <th className="num wide">Passing</th>
                <th className="num wide roomy" title="Resources of the rules’ types that the rules do not apply to">
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
                      <Numbers
                        of={total}
                        findings={findingsOf(
                          s.controls.filter((c) => c.violating > 0),
                          search.account,
                        )}
                      />
                    </tr>
                    {!closed.has(s.name) &&
                      s.controls.map((c) => (
                        <Control
                          key={c.id}
                          framework={framework.id}
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
      {removing && (
        <Confirm
          title={`Delete ${framework.name}`}
          action="Delete"
          onClose={() => setRemoving(false)}
          run={async () => {
            await posture.delete('/v1/compliance-frameworks/{framework_id}', { path: { framework_id: framework.id } });
            await navigate({ to: '/compliance' } as never);
            client.setQueryData(frameworksQuery.queryKey, (all) => all?.filter((f) => f.id !== framework.id));
            void client.invalidateQueries(frameworksQuery);
          }}
        >
          Its controls are not shown any more; rules stay as they are.
        </Confirm>
      )}
    </div>
  );
}

/** A framework, control by control: which controls are violated, which pass, and which no rule checks. */
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
