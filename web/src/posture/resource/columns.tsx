import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { posture, type Entity, type Finding } from '../../api/posture';
import { Mark, severity } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Answer, Empty } from '../../parts/states';
import { plural } from '../../parts/text';
import { Time } from '../../parts/time';
import { schemaQuery, useRules } from '../data';
import { gremlinOf } from '../graph/load';
import { differences } from './changes';
import { propertyText } from './property';

export function FindingsColumn({ findings }: { findings: Finding[] }) {
  const rules = useRules();
  const open = findings.filter((f) => f.status === 'Open' && !f.isSuppressed);
  return (
    <section className="region">
      <header><h2>Findings</h2><span className="end">{open.length} open</span></header>
      {findings.length === 0 && <p className="t3">No rule has found a violation here.</p>}
      <ul className="list">
        {findings.map((f) => (
          <li key={f.id}>
            <Link className="row" to="/findings" search={{ ...(f.status === 'Resolved' ? { status: 'resolved' } : f.isSuppressed ? { status: 'suppressed' } : {}), q: undefined, f: f.id } as never}>
              <Mark name={f.status === 'Resolved' ? 'pass' : severity(f.level, f.riskScore)} label />
              <b className="risk">{f.riskScore}</b>
              <span className="cut grow">{rules.get(f.ruleId)?.name ?? f.ruleId}</span>
              <span className="small t3"><Time at={f.creationTime} as="age" /></span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Properties; those that a violated rule reads come first. */
export function PropertiesColumn({ entity, findings }: { entity: Entity; findings: Finding[] }) {
  const [text, setText] = useState('');
  const rules = useRules();
  const schema = useQuery(schemaQuery).data?.types.find((t) => t.entityType === entity.entityType);
  const told = new Map(schema?.properties.map((p) => [p.name, p.description]));
  const queries = findings.filter((f) => f.status === 'Open').map((f) => gremlinOf(rules.get(f.ruleId)?.query ?? ''));
  const red = (name: string) => queries.some((q) => q.includes(`'${name}'`));
  const shown = entity.properties.filter((p) => `${p.name} ${propertyText(p)}`.toLowerCase().includes(text.toLowerCase())).sort((a, b) => Number(red(b.name)) - Number(red(a.name)) || a.name.localeCompare(b.name));
  return (
    <section className="region">
      <header><h2>Properties</h2><span className="t3">{entity.properties.length}</span><span className="end"><SearchInput label="Search properties" placeholder="Search" value={text} onChange={setText} /></span></header>
      <div className="table-scroll properties-scroll" tabIndex={0} role="region" aria-label="Properties">
        <table className="properties">
          <tbody>
            {shown.map((p, i) => (
              <tr key={`${p.name}${i}`} className={p.type === 'unknown' ? 'unknown' : red(p.name) ? 'red' : ''}>
                <th scope="row" title={told.get(p.name)}>{p.type === 'unknown' ? <Mark name="unknown" /> : red(p.name) && <Mark name="violation" />}<span>{p.name}</span></th>
                <td><code className={`v-${p.type}`} title={p.error}>{propertyText(p)}</code>{p.error && <span className="small block">{p.error}</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function ChangesColumn({ id }: { id: string }) {
  const query = useQuery({ queryKey: ['entities', 'changelog', id], queryFn: () => posture.get('/v1/entities/{resource_id}/changelog', { path: { resource_id: id } }) });
  return (
    <section className="region">
      <header><h2>Changes</h2></header>
      <Answer query={query} what="the change log">
        {({ changeLog }) => changeLog.length === 0 ? <Empty title="Nothing has changed">It is as it was read first.</Empty> : (
          <ol className="timeline">
            {[...changeLog].sort((a, b) => b.lastUpdateTime.localeCompare(a.lastUpdateTime)).slice(0, 30).map((entry, i, all) => {
              const lines = differences(entry);
              const first = i === all.length - 1 && lines.every((l) => l.before === undefined) && lines.length > 3;
              return (
                <li key={entry.lastUpdateTime}>
                  <span className="timeline-head"><Time at={entry.lastUpdateTime} as="date" />{first && <span className="t3">first read</span>}</span>
                  {first ? <p className="small t3">{plural(lines.length, 'value')}</p> : (
                    <table className="diff"><tbody>{lines.slice(0, 12).map((l, k) => <tr key={k}><th scope="row">{l.name}</th><td className={l.before === undefined ? '' : 'del'}>{l.before}</td><td className={l.after === undefined ? '' : 'add'}>{l.after}</td></tr>)}</tbody></table>
                  )}
                </li>
              );
            })}
          </ol>
        )}
      </Answer>
    </section>
  );
}
