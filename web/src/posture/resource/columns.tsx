import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { posture, type Entity, type Finding, type FindingPage } from '../../api/posture';
import { Mark, severity } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Answer } from '../../parts/states';
import { plural } from '../../parts/text';
import { Time } from '../../parts/time';
import { schemaQuery, useRules } from '../data';
import { gremlinOf } from '../graph/load';
import { propertyText } from './property';

const openOf = (findings: Finding[]) => findings.filter((f) => f.status === 'Open' && !f.isSuppressed);

/** How many findings are open, and the mark of the worst; nothing until the findings are read. */
export function FindingsPill({ query }: { query: UseQueryResult<FindingPage> }) {
  if (!query.data)
    return (
      (query.error ?? query.failureReason) && (
        <span className="pill unknown">
          <Mark name="unknown" />
          Findings unknown
        </span>
      )
    );
  const open = openOf(query.data.results);
  const worst = open[0];
  return worst ? (
    <span className="pill error">
      <Mark name={severity(worst.level, worst.riskScore)} />
      {plural(open.length, 'finding')}, risk {worst.riskScore}
    </span>
  ) : (
    <span className="pill ok">
      <Mark name="ok" />
      No open finding
    </span>
  );
}

export function FindingsColumn({ query, children }: { query: UseQueryResult<FindingPage>; children?: ReactNode }) {
  const rules = useRules();
  return (
    <section className="region">
      <header>
        <h2>Findings</h2>
        {query.data && <span className="end">{openOf(query.data.results).length} open</span>}
      </header>
      <Answer query={query} what="the list of findings" rows={3}>
        {({ results }) => (
          <>
            {results.length === 0 && <p className="t3">No rule has found a violation here.</p>}
            <ul className="list">
              {results.map((f) => (
                <li key={f.id}>
                  <Link
                    className="row"
                    to="/findings"
                    search={
                      {
                        ...(f.status === 'Resolved' ? { status: 'resolved' } : f.isSuppressed ? { status: 'suppressed' } : {}),
                        q: undefined,
                        f: f.id,
                      } as never
                    }
                  >
                    <Mark name={f.status === 'Resolved' ? 'pass' : severity(f.level, f.riskScore)} label />
                    <b className="risk">{f.riskScore}</b>
                    <span className="cut grow">{rules.get(f.ruleId)?.name ?? f.ruleId}</span>
                    <span className="small t3">
                      <Time at={f.creationTime} as="age" />
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )}
      </Answer>
      {children}
    </section>
  );
}

/** The verdicts of the rules that did not find a violation in the resource. */
export function OtherVerdicts({ id, provider }: { id: string; provider: string }) {
  const query = useQuery({
    queryKey: ['entity', id, 'verdicts'],
    queryFn: () => posture.get('/v1/entities/{resource_id}/verdicts', { path: { resource_id: id } }),
  });
  const rules = useRules();
  const [all, setAll] = useState(false);
  return (
    <Answer query={query} what="the list of verdicts" rows={3}>
      {({ results, unread }) => {
        const others = results
          .filter((v) => v.verdict !== 'Violation' && v.verdict !== 'NotApplicable')
          .sort((a, b) => b.verdict.localeCompare(a.verdict) || a.ruleName.localeCompare(b.ruleName));
        const notApplicable = results.filter((v) => v.verdict === 'NotApplicable');
        const shown = all ? others : others.slice(0, 5);
        const rest = [...rules.values()].filter((r) => r.provider === provider).length - results.length;
        return (
          <>
            <h3 className="label other-verdicts">Other verdicts</h3>
            <ul className="list">
              {shown.map((v) => (
                <li key={v.ruleId}>
                  <Link className="row" to={`/rules/${encodeURIComponent(v.ruleId)}`}>
                    <Mark name={v.verdict === 'Pass' ? 'pass' : 'unknown'} />
                    <span className="cut grow">{v.ruleName}</span>
                    <span className={v.verdict === 'Pass' ? 'c-pass small' : 'c-unknown small'}>{v.verdict}</span>
                  </Link>
                </li>
              ))}
              {others.length > shown.length && (
                <li>
                  <button type="button" className="link" onClick={() => setAll(true)}>
                    {others.length - shown.length} more
                  </button>
                </li>
              )}
              {notApplicable.length > 0 && (
                <li className="t3" title={notApplicable.map((v) => v.ruleName).join('\n')}>
                  <Mark name="nothing" />
                  {plural(notApplicable.length, 'rule')} {notApplicable.length === 1 ? 'is' : 'are'} about its type, but not about this
                  resource: not applicable
                </li>
              )}
              {rest > 0 && (
                <li className="t3">
                  <Mark name="none" />
                  {plural(rest, 'rule')} {rest === 1 ? 'is' : 'are'} about other types
                </li>
              )}
            </ul>
            {unread.slice(0, 3).map((u) => (
              <p key={`${u.entityType}${u.region}`} className="note unknown">
                <Mark name="unknown" />
                <span>
                  {u.entityType} in {u.region || 'every region'} was not read: {u.why}
                </span>
              </p>
            ))}
          </>
        );
      }}
    </Answer>
  );
}

/** The properties of a resource. Those that a violated rule reads come first, in red. */
export function PropertiesColumn({ entity, findings }: { entity: Entity; findings: Finding[] }) {
  const [text, setText] = useState('');
  const rules = useRules();
  const schema = useQuery(schemaQuery).data?.types.find((t) => t.entityType === entity.entityType);
  const descriptions = new Map(schema?.properties.map((p) => [p.name, p.description]));
  const queries = findings.filter((f) => f.status === 'Open').map((f) => gremlinOf(rules.get(f.ruleId)?.query ?? ''));
  const isReadByViolatedRule = (name: string) => queries.some((q) => q.includes(`'${name}'`));
  const shown = entity.properties
    .filter((p) => `${p.name} ${propertyText(p)}`.toLowerCase().includes(text.toLowerCase()))
    .sort((a, b) => Number(isReadByViolatedRule(b.name)) - Number(isReadByViolatedRule(a.name)) || a.name.localeCompare(b.name));
  return (
    <section className="region">
      <header>
        <h2>Properties</h2>
        <span className="t3">{entity.properties.length}</span>
        <span className="end">
          <SearchInput label="Search properties" placeholder="Search" value={text} onChange={setText} />
        </span>
      </header>
      <div className="table-scroll properties-scroll" tabIndex={0} role="region" aria-label="Properties">
        <table className="properties">
          <tbody>
            {shown.map((p, i) => (
              <tr key={`${p.name}${i}`} className={p.type === 'unknown' ? 'unknown' : isReadByViolatedRule(p.name) ? 'red' : ''}>
                <th scope="row" title={descriptions.get(p.name)}>
                  {p.type === 'unknown' ? <Mark name="unknown" /> : isReadByViolatedRule(p.name) && <Mark name="violation" />}
                  <span>{p.name}</span>
                </th>
                <td>
                  <code className={`v-${p.type}`} title={p.error}>
                    {propertyText(p)}
                  </code>
                  {p.error && <span className="small block">{p.error}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
