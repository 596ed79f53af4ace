import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { posture, type Rule } from '../../api/posture';
import { around, nodeOf, pathsOf, quoted, union, type Graph, type GraphEdge, type GraphNode } from './model';

/** At most this many nodes of a graph are drawn. */
export const mostNodes = 250;
const among = (nodes: Map<string, GraphNode>, edges: GraphEdge[]) => edges.filter((e) => nodes.has(e.from) && nodes.has(e.to));

/** The Gremlin text of a rule's query or visualization query. Both are stored as JSON: {"queryString": …}. */
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

/** The graph that a rule's visualization query finds for a resource, and the paths from the resource in it. */
export const pictureQuery = (rule: Rule | undefined, entityId: string, account: string) => {
  // The replacement is a function: in a replacement string $ has a special meaning, and an id can contain $.
  const gremlin = gremlinOf(rule?.visualizationQuery ?? '').replaceAll('<entity_id_clause>', () => `hasId(${quoted(entityId)})`);
  return queryOptions({
    queryKey: ['graph', 'picture', rule?.id, entityId, gremlin],
    enabled: !!rule,
    staleTime: 60_000,
    queryFn: async (): Promise<Picture> => {
      if (!gremlin) return { graph: { nodes: new Map(), edges: [] }, paths: [] };
      const answer = await posture.post('/v1/entities/graph-query', { body: { partitionKey: account, gremlin } });
      const ids = Object.keys(answer.entities).slice(0, mostNodes);
      const nodes = new Map(ids.map((id) => [id, nodeOf(id, answer.entities[id])]));
      return { graph: { nodes, edges: among(nodes, answer.edges) }, paths: pathsOf(answer.tree.nodes) };
    },
  });
};

/** The direction in which edges are followed: both, or only outwards. */
export type Direction = 'both' | 'out';

/** A resource and everything within a number of edges, at most mostNodes nodes. */
export const neighboursQuery = (entityId: string, account: string, depth: number, direction: Direction = 'both') =>
  queryOptions({
    queryKey: ['graph', 'neighbours', entityId, depth, direction],
    enabled: account !== '',
    staleTime: 30_000,
    queryFn: async (): Promise<Graph & { cut: boolean }> => {
      const gremlin = `g.V().hasId(${quoted(entityId)}).emit().repeat(${direction}().dedup()).times(${depth}).dedup().limit(${mostNodes + 1})`;
      const answer = await posture.post('/v1/entities/graph-query', { body: { partitionKey: account, gremlin } });
      const ids = [...new Set([entityId, ...Object.keys(answer.entities)])];
      const nodes = new Map(ids.slice(0, mostNodes).map((id) => [id, nodeOf(id, answer.entities[id])]));
      return { nodes, edges: among(nodes, answer.edges), cut: ids.length > mostNodes };
    },
  });

/** How many neighbours each resource has in all. */
export const degreesQuery = (ids: string[], account: string) =>
  queryOptions({
    queryKey: ['graph', 'degrees', ids],
    enabled: ids.length > 0,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<Map<string, number>> => {
      const gremlin = `g.V().hasId(${ids.map(quoted).join(', ')}).project('id', 'n').by(id()).by(both().dedup().count())`;
      const answer = await posture.post('/v1/entities/graph-query', { body: { partitionKey: account, gremlin } });
      return new Map((answer.values as { id: string; n: number }[]).map((v) => [v.id, v.n]));
    },
  });

/** Resources of several accounts with their direct neighbours. */
export const aroundQuery = (found: { id: string; account: string }[]) =>
  queryOptions({
    queryKey: ['graph', 'around', found],
    enabled: found.length > 0,
    staleTime: 30_000,
    queryFn: async (): Promise<Graph & { cut: boolean }> => {
      let all: Graph = { nodes: new Map(found.map((f) => [f.id, nodeOf(f.id)])), edges: [] };
      for (const account of new Set(found.map((f) => f.account))) {
        const ids = found.filter((f) => f.account === account).map((f) => f.id);
        const gremlin = `g.V().hasId(${ids.map(quoted).join(', ')}).emit().repeat(both().dedup()).times(1).dedup().limit(${mostNodes + 1})`;
        const answer = await posture.post('/v1/entities/graph-query', { body: { partitionKey: account, gremlin } });
        const nodes = new Map(Object.entries(answer.entities).map(([id, e]) => [id, nodeOf(id, e)]));
        all = union(all, { nodes, edges: answer.edges });
      }
      return around(
        all,
        found.map((f) => f.id),
      );
    },
  });
