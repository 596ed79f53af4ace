import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { Entity, Finding } from '../../api/posture';
import { useAddress } from '../../frame/address';
import { Button } from '../../parts/Button';
import { saveFile } from '../../parts/file';
import { useKeys } from '../../parts/keys';
import { Menu } from '../../parts/Menu';
import { Segments } from '../../parts/Segments';
import { Answer, Skeleton } from '../../parts/states';
import { count } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { findingsQuery, open, useRules } from '../data';
import { fold } from '../graph/fold';
import { neighboursQuery, pictureQuery } from '../graph/load';
import { union, type Graph } from '../graph/model';

const GraphView = lazy(() => import('../graph/GraphView'));

type View = 'why' | 'near' | 'reach';

function useCounts(account: string, ids: string[]): Map<string, number> {
  const page = useQuery({
    ...findingsQuery({
      filters: { ...open, cloudAccountIds: [account], objectIds: ids.slice(0, 250) },
      aggregations: { object: { fieldName: 'entityId', termsCount: 250 } },
      paginationInfo: { pageSize: 1 },
    }),
    enabled: ids.length > 0,
  }).data;
  return new Map(Object.entries(page?.aggregations?.object?.buckets ?? {}).map(([id, b]) => [id, b.count]));
}

function List({ graph }: { graph: Graph }) {
  return (
    <div className="table-scroll graph-list">
      <table className="table">
        <thead>
          <tr>
            <th>From</th>
            <th>Edge</th>
            <th>To</th>
          </tr>
        </thead>
        <tbody>
          {graph.edges.map((e) => (
            <tr key={`${e.from}${e.label}${e.to}`}>
              {[e.from, '', e.to].map((id, i) => (
                <td key={i}>
                  {i === 1 ? (
                    <code>{e.label}</code>
                  ) : (
                    <Link className="link" to={`/resource/${encodeURIComponent(id)}`}>
                      {graph.nodes.get(id)?.name ?? id}
                    </Link>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

async function savePicture(graph: Graph, centre: string, hot: Set<string>): Promise<void> {
  const { graphPicture } = await import('../graph/picture');
  const picture = await graphPicture(graph, centre, hot);
  if (picture) saveFile('graph.png', 'image/png', picture);
  else showToast('This browser cannot draw the picture');
}

/** What a resource is connected to, with the path of its worst finding in red. */
export function GraphBand({ entity, findings }: { entity: Entity; findings: Finding[] }) {
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const rules = useRules();
  const worst = findings.find((f) => f.ruleId === search.rule) ?? findings.find((f) => f.status === 'Open');
  const view: View = search.graph === 'reach' ? 'reach' : worst && search.graph !== 'near' ? 'why' : 'near';
  const depth = Math.min(3, Math.max(1, Number(search.depth) || (view === 'reach' ? 3 : 1)));
  const [list, setList] = useState(false);
  const [opened, setOpened] = useState<Set<string>>(new Set());
  const picture = useQuery(pictureQuery(worst ? rules.get(worst.ruleId) : undefined, entity.entityId, entity.cloudAccountId));
  const near = useQuery(neighboursQuery(entity.entityId, entity.cloudAccountId, depth, view === 'reach' ? 'out' : 'both'));
  const path = view === 'why' && (picture.data?.graph.nodes.size ?? 0) > 1 ? picture.data?.graph : undefined;
  const raw = useMemo(() => (path && near.data ? union(path, near.data) : (path ?? near.data)), [path, near.data]);
  const graph = useMemo(() => raw && fold(raw, entity.entityId, opened), [raw, entity.entityId, opened]);
  const hot = useMemo(
    () => new Set(worst && picture.data ? picture.data.paths.filter((p) => p.length > 1).flat() : []),
    [picture.data, worst],
  );
  const counts = useCounts(
    entity.cloudAccountId,
    useMemo(() => [...(raw?.nodes.keys() ?? [])].sort(), [raw]),
  );
  useKeys([{ keys: 'l', does: 'Graph or list', run: () => setList(!list) }]);
  const query = view === 'why' && (picture.data?.graph.nodes.size ?? 2) > 1 ? picture : near;
  return (
    <div className="graph-band">
      <div className="graph-tools">
        <Segments<View>
          label="Graph"
          value={view}
          onChange={(v) => change({ graph: v === 'why' ? undefined : v, depth: undefined })}
          options={[
            ...(worst ? [{ value: 'why' as const, label: 'Why it is risky' }] : []),
            { value: 'near', label: 'Neighbours' },
            { value: 'reach', label: 'Reach' },
          ]}
        />
        <Segments
          label="Depth"
          value={String(depth)}
          onChange={(d) => change({ depth: d })}
          options={['1', '2', '3'].map((d) => ({ value: d, label: d }))}
        />
        <span className="small t3 row tight end">
          {worst && hot.size > 0 && (
            <>
              <span className="hot-line" />
              path of <code>{worst.ruleId}</code>
            </>
          )}
          {graph && (
            <span>
              {count(graph.nodes.size)} shown{near.data?.cut ? '; the graph is too large, choose depth 1' : ''}
            </span>
          )}
        </span>
        <Button icon="list" aria-label="List of edges" aria-pressed={list} onClick={() => setList(!list)} />
        <Menu
          label="Save the graph"
          icon="download"
          choices={[
            { label: 'Picture (PNG)', run: () => graph && void savePicture(graph, entity.entityId, hot) },
            {
              label: 'JSON',
              run: () =>
                raw &&
                saveFile('graph.json', 'application/json', JSON.stringify({ nodes: [...raw.nodes.values()], edges: raw.edges }, null, 2)),
            },
          ]}
        />
      </div>
      <Answer query={query as typeof near} what="the graph" padded>
        {() =>
          graph &&
          (list ? (
            <List graph={raw ?? graph} />
          ) : (
            <Suspense fallback={<Skeleton />}>
              <GraphView
                graph={graph}
                centre={entity.entityId}
                hot={hot}
                findings={counts}
                onOpen={(n) =>
                  n.members
                    ? setOpened(new Set([...opened, n.id]))
                    : void navigate({ to: `/resource/${encodeURIComponent(n.id)}` } as never)
                }
              />
            </Suspense>
          ))
        }
      </Answer>
    </div>
  );
}
