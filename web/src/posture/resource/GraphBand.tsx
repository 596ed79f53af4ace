import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { Buckets, Entity, Finding } from '../../api/posture';
import { useAddress } from '../../frame/address';
import { Button } from '../../parts/Button';
import { saveFile } from '../../parts/file';
import { useKeys } from '../../parts/keys';
import { severity } from '../../parts/marks';
import { Menu } from '../../parts/Menu';
import { Segments } from '../../parts/Segments';
import { Answer, Skeleton } from '../../parts/states';
import { count } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { findingsQuery, open, useRules, useRulesPending } from '../data';
import { fold } from '../graph/fold';
import { degreesQuery, mostNodes, neighboursQuery, pictureQuery } from '../graph/load';
import { hiddenNeighbours, union, type Graph } from '../graph/model';

const GraphView = lazy(() => import('../graph/GraphView'));

type View = 'why' | 'near' | 'reach';

/** Open findings of resources: how many, and how bad the worst is. */
function useCounts(account: string, ids: string[]) {
  const page = useQuery({
    ...findingsQuery({
      filters: { ...open, cloudAccountIds: [account], objectIds: ids.slice(0, mostNodes) },
      aggregations: {
        object: { fieldName: 'entityId', termsCount: mostNodes, subAggregations: { level: { fieldName: 'level' } } },
      },
      paginationInfo: { pageSize: 1 },
    }),
    enabled: ids.length > 0,
  }).data;
  return new Map(
    Object.entries(page?.aggregations?.object?.buckets ?? {}).map(([id, b]) => {
      const levels = (b.subAggregations?.level as Buckets | undefined)?.buckets ?? {};
      const worst = ['High', 'Medium', 'Low'].find((l) => levels[l]) ?? 'Medium';
      return [id, { count: b.count, worst: severity(worst) }];
    }),
  );
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

async function savePicture(graph: Graph, centre: string, highlighted: Set<string>): Promise<void> {
  const { graphPicture } = await import('../graph/picture');
  const picture = await graphPicture(graph, centre, highlighted);
  if (picture) saveFile('graph.png', 'image/png', picture);
  else showToast('This browser cannot draw the picture');
}

/** The graph around a resource, with the path of one finding in red: that of the rule in the address, or else the worst. */
export function GraphBand({ entity, findings }: { entity: Entity; findings: Finding[] }) {
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const rules = useRules();
  const rulesPending = useRulesPending();
  const worst = findings.find((f) => f.ruleId === search.rule) ?? findings.find((f) => f.status === 'Open');
  const explained = worst && (rulesPending || rules.has(worst.ruleId)) ? worst : undefined;
  const view: View = search.graph === 'reach' ? 'reach' : explained && search.graph !== 'near' ? 'why' : 'near';
  const depth = Math.min(3, Math.max(1, Number(search.depth) || (view === 'reach' ? 3 : 1)));
  const [list, setList] = useState(false);
  const [whole, setWhole] = useState(false); // as high as the graph, without scrolling
  const [opened, setOpened] = useState<Set<string>>(new Set()); // folded nodes whose members are shown
  const picture = useQuery(pictureQuery(explained ? rules.get(explained.ruleId) : undefined, entity.entityId, entity.cloudAccountId));
  const near = useQuery(neighboursQuery(entity.entityId, entity.cloudAccountId, depth, view === 'reach' ? 'out' : 'both'));
  const path = view === 'why' && picture.data && picture.data.graph.nodes.size > 1 ? picture.data.graph : undefined;
  const [expanded, setExpanded] = useState<string[]>([]);
  const more = useQueries({
    queries: expanded.map((id) => neighboursQuery(id, entity.cloudAccountId, 1)),
    combine: (answers) => answers.flatMap((a) => a.data ?? []),
  });
  const raw = useMemo(() => {
    const graphs: Graph[] = [path, near.data, ...more].filter((g) => g !== undefined);
    return graphs.length > 0 ? graphs.reduce((all, g) => union(all, g)) : undefined;
  }, [path, near.data, more]);
  const highlighted = useMemo(
    () => new Set(explained && picture.data ? picture.data.paths.filter((p) => p.length > 1).flat() : []),
    [picture.data, explained],
  );
  const graph = useMemo(() => raw && fold(raw, entity.entityId, opened, highlighted), [raw, entity.entityId, opened, highlighted]);
  const ids = useMemo(() => [...(raw?.nodes.keys() ?? [])].sort(), [raw]);
  const counts = useCounts(entity.cloudAccountId, ids);
  const degrees = useQuery(degreesQuery(ids.slice(0, mostNodes), entity.cloudAccountId)).data;
  const hidden = useMemo(
    () => (raw && degrees && ids.length < mostNodes ? hiddenNeighbours(raw, degrees) : undefined),
    [raw, degrees, ids],
  );
  const expand = (id: string) => !expanded.includes(id) && setExpanded([...expanded, id]);
  useKeys([
    { keys: 'l', does: 'Graph or list', run: () => setList(!list) },
    {
      keys: '+',
      does: 'Show more neighbours of the card',
      run: () => {
        const id = document.activeElement?.getAttribute('data-node');
        if (id && hidden?.get(id)) expand(id);
      },
    },
  ]);
  // The view "why" waits for the picture. A picture of one node has no path: then the view has only the neighbours.
  const query = view === 'why' && (!picture.data || path) ? picture : near;
  return (
    <div className={`graph-band ${whole ? 'whole' : ''}`}>
      <div className="graph-tools">
        <Segments<View>
          label="Graph"
          value={view}
          onChange={(v) => change({ graph: v === 'why' ? undefined : v, depth: undefined })}
          options={[
            ...(explained ? [{ value: 'why' as const, label: 'Why it is risky' }] : []),
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
          {explained && highlighted.size > 0 && (
            <>
              <span className="hot-line" />
              <span>
                path of <code>{explained.ruleId}</code> <span className="roomy">·</span>
              </span>
            </>
          )}
          {graph && (
            <span className={near.data?.cut ? '' : 'roomy'}>
              {count(graph.nodes.size)} shown{near.data?.cut ? '; the graph is too large, choose depth 1' : ''}
            </span>
          )}
        </span>
        <Button icon="list" aria-label="List of edges" aria-pressed={list} onClick={() => setList(!list)} />
        <Button icon="expand" aria-label="Whole graph" aria-pressed={whole} onClick={() => setWhole(!whole)} />
        <Menu
          label="Save the graph"
          icon="download"
          choices={[
            { label: 'Picture (PNG)', run: () => graph && void savePicture(graph, entity.entityId, highlighted) },
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
                highlighted={highlighted}
                findings={counts}
                hidden={hidden}
                onExpand={expand}
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
