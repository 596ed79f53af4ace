import { queryOptions } from '@tanstack/react-query';
import { posture, type Rule } from '../../api/posture';
import { nodeOf, pathsOf, quoted, type Graph, type GraphEdge } from './model';

const project = ".project('from','label','to').by(outV().id()).by(label()).by(inV().id())";

/** Edges of a graph answer that projects them. */
const edgesOf = (values: unknown[]): GraphEdge[] => values.filter((v): v is GraphEdge => typeof v === 'object' && v !== null && 'label' in v && 'from' in v && 'to' in v);

async function edgesAmong(partitionKey: string, ids: string[]): Promise<GraphEdge[]> {
  if (ids.length < 2) return [];
  const gremlin = `g.V().hasId(${ids.map(quoted).join(',')}).outE()${project}`;
  const { values } = await posture.post('/v1/entities/graph-query', { body: { partitionKey, gremlin } });
  const known = new Set(ids);
  return edgesOf(values).filter((e) => known.has(e.to));
}

/** The Gremlin of a rule's query or picture, which is stored as JSON in a text. */
export function gremlinOf(stored: string): string {
  try {
    return String((JSON.parse(stored) as { queryString?: string }).queryString ?? '');
  } catch {
    return stored;
  }
}

export interface Picture {
  graph: Graph;
  paths: string[][];
}

/** What a rule shows of a resource: the ways that its picture query walks, with the labels of their edges. */
export const pictureQuery = (rule: Rule | undefined, entityId: string, account: string) =>
  queryOptions({
    queryKey: ['graph', 'picture', rule?.id, entityId],
    enabled: !!rule,
    staleTime: 60_000,
    queryFn: async (): Promise<Picture> => {
      const gremlin = gremlinOf(rule?.visualizationQuery ?? '').replace('<entity_id_clause>', `hasId(${quoted(entityId)})`);
      if (!gremlin) return { graph: { nodes: new Map(), edges: [] }, paths: [] };
      const answer = await posture.post('/v1/entities/graph-query', { body: { partitionKey: account, gremlin } });
      const ids = Object.keys(answer.entities).slice(0, 250);
      const edges = await edgesAmong(account, ids);
      return { graph: { nodes: new Map(ids.map((id) => [id, nodeOf(id, answer.entities[id])])), edges }, paths: pathsOf(answer.tree.nodes) };
    },
  });

/** A resource and everything within a number of edges, at most 250 nodes. */
export const neighboursQuery = (entityId: string, account: string, depth: number) =>
  queryOptions({
    queryKey: ['graph', 'neighbours', entityId, depth],
    enabled: account !== '',
    staleTime: 30_000,
    queryFn: async (): Promise<Graph & { cut: boolean }> => {
      const walk = `g.V().hasId(${quoted(entityId)})${depth > 1 ? `.emit().repeat(both().simplePath()).times(${depth - 1})` : ''}`;
      const body = { partitionKey: account, gremlin: `${walk}.dedup().limit(120).bothE().dedup()${project}` };
      const edges = edgesOf((await posture.post('/v1/entities/graph-query', { body })).values);
      const ids = [...new Set([entityId, ...edges.flatMap((e) => [e.from, e.to])])];
      const kept = ids.slice(0, 250);
      const gremlin = `g.V().hasId(${kept.map(quoted).join(',')})`;
      const { entities } = await posture.post('/v1/entities/graph-query', { body: { partitionKey: account, gremlin } });
      const nodes = new Map(kept.map((id) => [id, nodeOf(id, entities[id])]));
      return { nodes, edges: edges.filter((e) => nodes.has(e.from) && nodes.has(e.to)), cut: ids.length > kept.length };
    },
  });
