import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { posture, type Finding, type Rule } from '../../api/posture';
import { StackBar } from '../../parts/Bars';
import { Icon } from '../../parts/Icon';
import { Answer } from '../../parts/states';
import { sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { EntityText } from '../EntityText';
import { entityQuery, schemaQuery, useRulesPending } from '../data';
import { byFramework, partsOf, useControlName } from '../frameworks';
import { pictureQuery } from '../graph/load';
import { PathPicture } from '../graph/PathPicture';
import { propertyText } from '../resource/property';
import { eventText } from './eventText';

/** Colours that tell the parts of a score apart. They do not stand for levels here. */
const partColours = ['high', 'medium', 'low', 'critical'];

/** The score and what it is made of. */
export function RiskSection({ finding }: { finding: Finding }) {
  const parts = finding.riskParts.map((p, i) => ({ ...p, colour: partColours[i % partColours.length] ?? 'low' }));
  return (
    <section className="drawer-section">
      <div className="region-head">
        <h3>Risk</h3>
        <span className={`risk-total c-${finding.riskScore >= 90 ? 'critical' : 'high'}`}>{finding.riskScore}</span>
      </div>
      <StackBar
        tall
        total={100}
        parts={parts.map((p) => ({ name: p.colour, value: p.points }))}
        label={`Risk ${finding.riskScore} of 100`}
      />
      <dl className="risk-parts">
        {parts.map((p) => (
          <div key={p.name}>
            <dt>
              <span className={`swatch b-${p.colour}`} />
              {sentence(p.name)}
              <b>{p.points}</b>
            </dt>
            <dd>
              <EntityText text={p.why} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The graph that the rule's visualization query finds for this resource. */
export function GraphSection({ finding, rule }: { finding: Finding; rule: Rule | undefined }) {
  const query = useQuery(pictureQuery(rule, finding.entityId, finding.cloudAccountId));
  const rulesPending = useRulesPending();
  if (!rule && !rulesPending) return null; // the rule does not exist any more
  return (
    <section className="drawer-section">
      <div className="region-head">
        <h3>Graph</h3>
        <Link className="end" to={`/resource/${encodeURIComponent(finding.entityId)}`} search={{ rule: finding.ruleId } as never}>
          Open graph
        </Link>
      </div>
      <Answer query={query} what="the picture" rows={2}>
        {(picture) => <PathPicture picture={picture} entityId={finding.entityId} />}
      </Answer>
    </section>
  );
}

const vendors: Record<string, string> = { aws: 'AWS', azure: 'Microsoft', gcp: 'Google' };

export function WhySection({ rule }: { rule: Rule | undefined }) {
  if (!rule) return null;
  return (
    <section className="drawer-section why">
      <div>
        <h3>Why it matters</h3>
        <p className="t2">{rule.description}</p>
      </div>
      <div>
        <h3>What to do</h3>
        <p>{rule.suggestedAction}</p>
        {rule.documentationLink && (
          <p>
            <a className="link row tight nowrap" href={rule.documentationLink} target="_blank" rel="noreferrer">
              How {vendors[rule.provider] ?? 'the provider'} describes it <Icon name="out" small />
            </a>
          </p>
        )}
      </div>
    </section>
  );
}

/** Reads a rule with `reads`: the types and properties that its query reads, as the server derives them. */
const readsQuery = (id: string) => ({
  queryKey: ['rules', id, 'reads'],
  queryFn: () => posture.get('/v1/rules/{rule_id}', { path: { rule_id: id }, query: { include: 'reads' } }),
  staleTime: 300_000,
});

/** The properties of the resource that the rule reads, with what they mean. */
export function EvidenceSection({ finding }: { finding: Finding }) {
  const reads = useQuery(readsQuery(finding.ruleId)).data?.reads;
  const schema = useQuery(schemaQuery).data?.types.find((t) => t.entityType === finding.objectType);
  const entity = useQuery(entityQuery(finding.entityId)).data;
  if (!entity || !reads) return null;
  const names = new Set(reads.properties);
  const descriptions = new Map(schema?.properties.map((p) => [p.name, p.description]));
  const read = entity.properties.filter((p) => names.has(p.name));
  if (read.length === 0) return null;
  return (
    <section className="drawer-section">
      <div className="region-head">
        <h3>Evidence</h3>
        <span className="end">
          resource last changed <Time at={entity.lastUpdateTime} as="date" />
        </span>
      </div>
      <table className="evidence">
        <tbody>
          {read.map((p, i) => (
            <tr key={i}>
              <th scope="row">
                <code>{p.name}</code>
              </th>
              <td>
                <code className={p.type === 'unknown' ? 'value c-unknown' : 'value'} title={p.error}>
                  {propertyText(p)}
                </code>
              </td>
              <td className="small t3 wide">{descriptions.get(p.name)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function ControlsSection({ rule }: { rule: Rule | undefined }) {
  const controls = rule?.complianceControlIds ?? [];
  const nameOf = useControlName();
  if (controls.length === 0) return null;
  return (
    <section className="drawer-section">
      <div className="region-head">
        <h3>Controls</h3>
        <span className="end">{controls.length}</span>
      </div>
      <ul className="control-lines">
        {[...byFramework(controls)].map(([frameworkId, ids]) => (
          <li key={frameworkId}>
            <span className="t3">{nameOf(ids[0] ?? '').framework}</span>{' '}
            {ids.map((c, i) => (
              <Fragment key={c}>
                {i > 0 && ', '}
                <Link className="inline-link" to={`/compliance/${frameworkId}`} search={{ control: partsOf(c).number } as never}>
                  {partsOf(c).number}
                </Link>
              </Fragment>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function HistorySection({ finding }: { finding: Finding }) {
  const query = useQuery({
    queryKey: ['findings', 'history', finding.id],
    queryFn: () => posture.get('/v2/findings/{finding_id}/history', { path: { finding_id: finding.id } }),
  });
  return (
    <section className="drawer-section">
      <div className="region-head">
        <h3>History</h3>
      </div>
      <Answer query={query} what="the history" rows={2}>
        {(history) => (
          <ol className="timeline">
            {history.results.map((e, i) => (
              <li key={i}>
                <span className="timeline-head">
                  <Time at={e.time} as="date" /> <span className="t2">{eventText(e)}</span>
                </span>
              </li>
            ))}
          </ol>
        )}
      </Answer>
    </section>
  );
}
