import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { posture, type Finding } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { Button } from '../../parts/Button';
import { copyText } from '../../parts/Copy';
import { Icon } from '../../parts/Icon';
import { useKeys } from '../../parts/keys';
import { Menu } from '../../parts/Menu';
import { Mark, ProviderMark, Word, severity } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { shortType, typeName } from '../../parts/text';
import { day, spanInWords, Time } from '../../parts/time';
import { useAccountNames, useRules } from '../data';
import { iconOfType } from '../graph/icons';
import { ControlsSection, EvidenceSection, GraphSection, HistorySection, RiskSection, WhySection } from './drawerSections';
import { resourceName } from './FindingRow';
import { useSuppress } from './useSuppress';

interface Props {
  id: string;
  inList: boolean;
  onClose: () => void;
  onMove: (by: number) => void;
  onSuppress: (id: string) => void;
}

function Actions({ finding, onSuppress }: { finding: Finding; onSuppress: (id: string) => void }) {
  const refused = useRefusal('analyst', 'findings');
  const noMuting = useRefusal('analyst', 'findings', 'organisation');
  const { release } = useSuppress();
  const [json, setJSON] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <div className="row tight wrap drawer-actions">
        <Link className="btn primary" to={`/resource/${encodeURIComponent(finding.entityId)}`}>
          Open resource <kbd aria-hidden="true">O</kbd>
        </Link>
        {finding.isSuppressed ? (
          <Button writes refused={refused} onClick={() => void release([finding.id])}>
            Release
          </Button>
        ) : (
          <Button writes keys="S" refused={refused} onClick={() => onSuppress(finding.id)}>
            Suppress
          </Button>
        )}
        <Link className="btn" to={`/rules/${encodeURIComponent(finding.ruleId)}`}>
          Rule
        </Link>
        <Menu
          label="More actions"
          icon="more"
          choices={[
            { label: json ? 'Hide JSON' : 'Show JSON', run: () => setJSON(!json) },
            {
              label: 'Mute similar findings',
              refused: noMuting,
              run: () =>
                void navigate({
                  to: '/mute-rules',
                  search: { new: 'yes', rule: finding.ruleId, account: finding.cloudAccountId },
                } as never),
            },
            { label: 'Copy id', run: () => void copyText(finding.id, 'Id copied') },
            { label: 'Copy id in the cloud', run: () => void copyText(finding.objectXid, 'Id copied') },
            { label: 'Findings of this rule', run: () => void navigate({ to: '/findings', search: { rule: finding.ruleId } } as never) },
            {
              label: 'Findings of this account',
              run: () => void navigate({ to: '/findings', search: { account: finding.cloudAccountId } } as never),
            },
          ]}
        />
      </div>
      {json && (
        <pre className="json" tabIndex={0}>
          {JSON.stringify(finding, null, 2)}
        </pre>
      )}
    </>
  );
}

function Body({ finding, inList, onSuppress }: { finding: Finding; inList: boolean; onSuppress: (id: string) => void }) {
  const rule = useRules().get(finding.ruleId);
  const accountName = useAccountNames();
  const type = shortType(finding.objectType);
  const { completeBlob: _, ...shown } = finding;
  return (
    <div className="drawer-body" tabIndex={0} role="region" aria-label="Finding">
      {!inList && (
        <div className="note">
          <Mark name="none" />
          <span>This finding is not in the list beside it.</span>
        </div>
      )}
      {finding.status === 'Resolved' && (
        <div className="note">
          <Mark name="pass" />
          <span>
            Resolved <Time at={finding.resolvedTime} as="date" />. The resource does not violate the rule any more.
          </span>
        </div>
      )}
      {finding.suppression && (
        <div className="note">
          <Mark name="off" />
          <span>
            Suppressed by {finding.suppression.by}: {finding.suppression.reason}
            {finding.suppression.until ? `, until ${day(finding.suppression.until)}` : ''}.{' '}
            {finding.suppression.muteRuleId && (
              <Link className="inline-link" to="/mute-rules">
                By a mute rule
              </Link>
            )}
          </span>
        </div>
      )}
      <h2 className="drawer-title">{rule?.name ?? finding.ruleId}</h2>
      <div className="row wrap tight drawer-resource">
        <Icon name={iconOfType(typeName(type))} />
        <Link className="link" to={`/resource/${encodeURIComponent(finding.entityId)}`}>
          {resourceName(finding)}
        </Link>
        <span className="t3">{type}</span>
        <span className="row tight">
          <ProviderMark provider={finding.cloudProvider} />
          {accountName(finding.cloudAccountId)} · {finding.region}
        </span>
      </div>
      <Actions finding={shown} onSuppress={onSuppress} />
      <RiskSection finding={finding} />
      <GraphSection finding={finding} rule={rule} />
      <WhySection rule={rule} />
      <EvidenceSection finding={finding} />
      <ControlsSection rule={rule} />
      <HistorySection finding={finding} />
    </div>
  );
}

/** One finding beside the list: its risk, its graph, why it matters, what to do, and its history. */
export function Drawer({ id, inList, onClose, onMove, onSuppress }: Props) {
  const query = useQuery({
    queryKey: ['findings', 'one', id],
    queryFn: () => posture.get('/v2/findings/{finding_id}', { path: { finding_id: id } }),
    placeholderData: (before) => before,
  });
  const navigate = useNavigate();
  const box = useRef<HTMLElement>(null);
  const finding = query.data;
  useEffect(() => {
    box.current?.querySelector('.drawer-body')?.scrollTo({ top: 0 });
  }, [id]);
  useKeys([
    { keys: 'Escape', does: 'Close the drawer', run: onClose },
    { keys: '.', does: 'More actions', run: () => box.current?.querySelector<HTMLElement>('[aria-haspopup="menu"]')?.click() },
    { keys: 's', does: 'Suppress', run: () => onSuppress(id) },
    {
      keys: 'o',
      does: 'Open the resource',
      run: () => finding && void navigate({ to: `/resource/${encodeURIComponent(finding.entityId)}` } as never),
    },
    {
      keys: 'r',
      does: 'Open the rule',
      run: () => finding && void navigate({ to: `/rules/${encodeURIComponent(finding.ruleId)}` } as never),
    },
  ]);
  return (
    <aside className="drawer" aria-label="Finding" ref={box}>
      <div className="drawer-head">
        {finding && <Word name={severity(finding.level, finding.riskScore)}>{finding.riskScore >= 90 ? 'Critical' : finding.level}</Word>}
        {finding && (
          <span className="t3 cut">
            ·{' '}
            {finding.status === 'Open'
              ? `Open since ${day(finding.creationTime)}, ${spanInWords(Date.now() - new Date(finding.creationTime).getTime())}`
              : 'Resolved'}
          </span>
        )}
        <Button look="quiet" icon="up" className="end" aria-label="Previous finding" onClick={() => onMove(-1)} />
        <Button look="quiet" icon="down" aria-label="Next finding" onClick={() => onMove(1)} />
        <Button look="quiet" icon="copy" aria-label="Copy link" onClick={() => void copyText(location.href, 'Link copied')} />
        <Button look="quiet" icon="x" aria-label="Close finding" onClick={onClose} />
      </div>
      <Answer query={query} what="the finding" padded>
        {(f) => <Body finding={f} inList={inList} onSuppress={onSuppress} />}
      </Answer>
    </aside>
  );
}
