import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ControlPosture } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { StackBar } from '../../parts/Bars';
import { Icon } from '../../parts/Icon';
import { Mark, severity, Word } from '../../parts/marks';
import { count, plural } from '../../parts/text';
import { date } from '../../parts/time';
import { useRules } from '../data';
import { levelName } from '../rules/Rules';
import { AssessDialog } from './AssessDialog';
import { findingsOf, verdictOf, verdictWords } from './verdicts';

export interface Sums {
  violating: number;
  unknown: number;
  passing: number;
  notApplicable: number;
  notListed: number;
}
export const zero: Sums = { violating: 0, unknown: 0, passing: 0, notApplicable: 0, notListed: 0 };

/** How many resources are unknown, and how many types were not listed. The resources of unlisted types cannot be counted. */
function UnknownCell({ of, rule }: { of: Sums; rule?: string }) {
  const text = [of.unknown > 0 && count(of.unknown), of.notListed > 0 && `${plural(of.notListed, 'type')} not listed`]
    .filter(Boolean)
    .join(', ');
  if (!text) return <td className="num wide t3">–</td>;
  return <td className="num wide c-unknown">{rule ? <Link to={`/rules/${encodeURIComponent(rule)}/unknown`}>{text}</Link> : text}</td>;
}

/** Cells with counts of resources by verdict. The count of violating resources links to their findings. */
export const Numbers = ({ of, rule, findings }: { of: Sums; rule?: string; findings?: Record<string, string | undefined> }) => (
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
    <td className={`num wide ${of.violating ? 'c-violation' : 't3'}`}>
      {!of.violating ? (
        '–'
      ) : findings ? (
        <Link to="/findings" search={findings as never}>
          {count(of.violating)}
          <span className="hide"> violating, show their findings</span>
        </Link>
      ) : (
        count(of.violating)
      )}
    </td>
    <UnknownCell of={of} {...(rule ? { rule } : {})} />
    <td className="num wide t2">{of.passing ? count(of.passing) : '–'}</td>
    <td className="num wide roomy t3">{of.notApplicable ? count(of.notApplicable) : '–'}</td>
  </>
);

function RuleRow({ id, control, sum, account }: { id: string; control: string; sum: Sums | undefined; account: string | undefined }) {
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
          {rule?.unconfirmedControlIds?.includes(control) && (
            <span className="small t3 nowrap roomy" title="The rule was mapped to the control by category. Have an auditor check it.">
              not confirmed
            </span>
          )}
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
      <Numbers of={sum ?? zero} rule={id} findings={{ rule: id, account }} />
    </tr>
  );
}

/** The manual assessment of a control that no rule checks. */
const Assessment = ({ of: a }: { of: NonNullable<ControlPosture['assessed']> }) => (
  <span className="assessment small t2">
    {a.by}, {date(Date.parse(a.time))}: {a.reason}
    {a.until && ` (${a.inForce ? 'until' : 'ended'} ${date(Date.parse(a.until))})`}
  </span>
);

/** The button that opens the dialog for a manual assessment. */
function Assess({ framework, control }: { framework: string; control: ControlPosture }) {
  const [editing, setEditing] = useState(false);
  const refused = useRefusal('analyst', 'rules', 'organisation');
  return (
    <>
      <button
        type="button"
        className="link small assess"
        disabled={!!refused}
        title={refused}
        aria-label={`Assess control ${control.controlId}`}
        onClick={() => setEditing(true)}
      >
        {control.assessed ? 'Change' : 'Assess'}
      </button>
      {editing && <AssessDialog framework={framework} control={control} onClose={() => setEditing(false)} />}
    </>
  );
}

/** A control, and its rules when it is open. */
export function Control({
  framework,
  control: c,
  open: shown,
  onToggle,
  account,
}: {
  framework: string;
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
          {c.assessed && <Assessment of={c.assessed} />}
        </td>
        <td className="nowrap">
          <Word name={verdict}>{verdict === 'none' && c.assessment === 'manual' ? 'Manual assessment' : verdictWords[verdict]}</Word>
          {c.ruleIds.length === 0 && <Assess framework={framework} control={c} />}
        </td>
        <Numbers of={c} findings={findingsOf([c], account)} />
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
      {shown && c.ruleIds.map((id) => <RuleRow key={id} id={id} control={c.id} sum={c.rules?.[id]} account={account} />)}
    </>
  );
}
