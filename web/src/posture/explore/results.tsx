import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo } from 'react';
import { posture, type Entity, type GraphAnswer } from '../../api/posture';
import { Mark } from '../../parts/marks';
import { Answer, Empty, Skeleton } from '../../parts/states';
import { count, plural, sentence, shortType } from '../../parts/text';
import { buckets, useAccountNames } from '../data';
import { queryProblems } from '../editor/problems';
import { mostNodes } from '../graph/load';
import { nodeOf, type Graph } from '../graph/model';
import { JsonView } from './JsonView';
import { tableOf } from './values';

const GraphView = lazy(() => import('../graph/GraphView'));

export type View = 'table' | 'graph' | 'json' | 'plan';

/** The first entities of an answer, and the edges between them. */
function graphOf(answer: GraphAnswer): Graph {
  const nodes = new Map(
    Object.entries(answer.entities)
      .slice(0, mostNodes)
      .map(([id, e]) => [id, nodeOf(id, e)]),
  );
  return { nodes, edges: answer.edges.filter((e) => nodes.has(e.from) && nodes.has(e.to)) };
}

function EntityTable({ entities }: { entities: Entity[] }) {
  const accountName = useAccountNames();
  return (
    <table className="table">
      <thead>
        <tr>
          <th>Name</th>
          <th>Type</th>
          <th className="wide">Account</th>
          <th className="wide">Region</th>
          <th className="wide">Id</th>
        </tr>
      </thead>
      <tbody>
        {entities.map((e) => (
          <tr key={e.entityId}>
            <th scope="row">
              <Link to={`/resource/${encodeURIComponent(e.entityId)}`}>{e.entityName}</Link>
            </th>
            <td className="t2">{shortType(e.entityType)}</td>
            <td className="wide t2 nowrap">{accountName(e.cloudAccountId)}</td>
            <td className="wide t2">{e.region}</td>
            <td className="wide">
              <code className="small">{e.xid}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const shownAs = (value: unknown) => (value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value));

/** At most this many results are drawn. All are in the JSON of the answer. */
const most = 500;

/** Says that there are more results than are drawn. */
const Cut = ({ of }: { of: number }) =>
  of > most && (
    <p className="region t3">
      The first {count(most)} of {count(of)}.
    </p>
  );

function ValueTable({ values }: { values: unknown[] }) {
  const { columns, rows } = useMemo(() => tableOf(values), [values]);
  return (
    <>
      <table className="table">
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c}>{c}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, i) => (
            <tr key={i}>
              {row.map((value, k) => (
                <td key={k}>
                  <code>{shownAs(value)}</code>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Cut of={rows.length} />
    </>
  );
}

/** How much a query found. A map of counts is one result with many rows. */
export function extentOf(answer: GraphAnswer): string {
  const rows = Object.keys(answer.entities).length + tableOf(answer.values).rows.length;
  const results = plural(answer.count, 'result');
  return answer.count > 0 && rows > answer.count ? `${results} with ${plural(rows, 'row')}` : results;
}

/** The results of a query in one of its views. */
export function Result({ answer, view }: { answer: GraphAnswer; view: View }) {
  const navigate = useNavigate();
  const graph = useMemo(() => graphOf(answer), [answer]);
  const entities = Object.values(answer.entities);
  if (view === 'json') return <JsonView answer={answer} />;
  if (view === 'plan')
    return (
      <pre className="json region" tabIndex={0}>
        {answer.explain
          ? answer.explain.steps.map((s) => `${'  '.repeat(s.depth)}${s.step}${s.note ? `   ${s.note}` : ''}`).join('\n') +
            '\n' +
            answer.explain.notes.join('\n')
          : 'The server returned no plan.'}
      </pre>
    );
  if (view === 'graph' && entities.length > 0 && entities.length <= mostNodes)
    return (
      <div className="graph-band">
        <Suspense fallback={<Skeleton />}>
          <GraphView
            graph={graph}
            centre=""
            highlighted={new Set()}
            findings={new Map()}
            onOpen={(n) => void navigate({ to: `/resource/${encodeURIComponent(n.id)}` } as never)}
          />
        </Suspense>
      </div>
    );
  if (answer.count === 0)
    return (
      <Empty padded title="No result">
        The query is valid; nothing in this account matches it.
      </Empty>
    );
  return (
    <div className="table-scroll">
      {entities.length > 0 && <EntityTable entities={entities.slice(0, most)} />}
      <Cut of={entities.length} />
      {answer.values.length > 0 && <ValueTable values={answer.values} />}
    </div>
  );
}

/** The result of a search: entities, and how many there are of each type. */
export function SearchResult({ query, account }: { query: string; account: string }) {
  const filters = { query, ...(account ? { cloudAccountIds: [account] } : {}) };
  const found = useQuery({
    queryKey: ['explore', 'search', filters],
    queryFn: () => posture.post('/v1/entities/query', { body: { filters, paginationInfo: { pageSize: 200 } } }),
    retry: false,
  });
  const counts = useQuery({
    queryKey: ['explore', 'counts', filters],
    enabled: found.isSuccess,
    queryFn: () =>
      posture.post('/v1/entities/aggregations-query', {
        body: { filters, aggregations: { type: { fieldName: 'entityType', aggregationType: 'Terms', termsCount: 12 } } },
      }),
  }).data;
  const problems = queryProblems(found.error);
  if (problems.length > 0)
    return (
      <div className="region">
        <div className="note error" role="alert">
          <Mark name="error" />
          <span>{problems.map((p) => sentence(p.message)).join('; ')}</span>
        </div>
      </div>
    );
  return (
    <Answer query={found} what="the search" padded>
      {(page) =>
        page.totalCount === 0 ? (
          <Empty padded title="No result">
            The search is valid; no resource matches it.
          </Empty>
        ) : (
          <>
            <div className="toolbar">
              <b>{plural(page.totalCount, 'resource')}</b>
              {buckets(counts?.aggregations.type).map((b) => (
                <Link
                  key={b.value}
                  className="tag"
                  to="/inventory"
                  search={{ type: b.value, q: query, account: account || undefined } as never}
                >
                  <b>{shortType(b.value)}</b> {count(b.count)}
                </Link>
              ))}
            </div>
            <div className="table-scroll">
              <EntityTable entities={page.results} />
            </div>
            {page.totalCount > page.results.length && (
              <p className="region t3">
                The first {count(page.results.length)}.{' '}
                <Link className="link" to="/inventory" search={{ q: query, account: account || undefined } as never}>
                  All in the inventory
                </Link>
              </p>
            )}
          </>
        )
      }
    </Answer>
  );
}
