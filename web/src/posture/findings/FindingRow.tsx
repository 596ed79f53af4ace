import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Finding } from '../../api/posture';
import type { Search } from '../../frame/address';
import { Mark, severity } from '../../parts/marks';
import { shortType } from '../../parts/text';
import { Time } from '../../parts/time';

/** The name of a finding's resource. */
export const resourceName = (f: Finding) => f.objectName;

interface Props {
  finding: Finding;
  ruleName: string;
  accountName: string;
  compact: boolean;
  on: boolean;
  cursor: boolean;
  selected: boolean;
  onSelect: (id: string) => void;
  search: Search;
}

function Compact({ finding, ruleName }: Pick<Props, 'finding' | 'ruleName'>) {
  const env = finding.cloudTags?.Environment;
  return (
    <>
      <span className="grow">
        <span className="finding-name cut">{ruleName}</span>
        <span className="finding-meta cut">{[resourceName(finding), shortType(finding.objectType), env].filter(Boolean).join(' · ')}</span>
      </span>
      <span className="finding-end">
        <span className="risk">
          <span className="hide">Risk </span>
          {finding.riskScore}
        </span>
        <span className="small t3">
          <Time at={finding.creationTime} as="age" />
        </span>
      </span>
    </>
  );
}

function Wide({ finding, ruleName, accountName }: Pick<Props, 'finding' | 'ruleName' | 'accountName'>) {
  return (
    <>
      <span className="cut strong f-rule">{ruleName}</span>
      <span className="cut f-res">
        {resourceName(finding)} <span className="t3">{shortType(finding.objectType)}</span>
      </span>
      <span className="cut t2 f-acc">{accountName}</span>
      <span className="cut t2 f-reg">{finding.region}</span>
      <span className="cut t2 f-svc">{finding.service}</span>
      <span className="risk f-risk">
        <span className="hide">Risk </span>
        {finding.riskScore}
      </span>
      <span className="t3 num f-age">
        <Time at={finding.creationTime} as="age" />
      </span>
    </>
  );
}

/**
 * One finding in a list: two lines beside the drawer and on phones, otherwise columns. It is rendered again
 * only if its properties change, because scrolling renders the list for every frame.
 */
export const FindingRow = memo(function FindingRow(props: Props) {
  const { finding, compact, on, cursor, selected, onSelect, search } = props;
  return (
    <div className={`finding ${compact ? 'compact' : 'columns'} ${on ? 'on' : ''} ${cursor ? 'cursor' : ''}`}>
      <input
        type="checkbox"
        aria-label={`Select ${props.ruleName}, ${resourceName(finding)}`}
        checked={selected}
        onChange={() => onSelect(finding.id)}
      />
      <Link
        to="/findings"
        search={{ ...search, f: finding.id } as never}
        replace
        className="finding-link"
        data-finding={finding.id}
        aria-current={on ? 'true' : undefined}
      >
        <Mark name={severity(finding.level, finding.riskScore)} label />
        {compact ? <Compact {...props} /> : <Wide {...props} />}
      </Link>
    </div>
  );
});
