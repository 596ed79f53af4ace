import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { posture, type Rule } from '../../api/posture';
import { around, nodeOf, pathsOf, quoted, union, type Graph, type GraphEdge, type GraphNode } from './model';

const most = 250;
const among = (nodes: Map<string, GraphNode>, edges: GraphEdge[]) => edges.filter((e) => nodes.has(e.from) && nodes.has(e.to));

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
      const nodes = new Map(ids.map((id) => [id, nodeOf(id, answer.entities[id])]));
      return { graph: { nodes, edges: among(nodes, answer.edges) }, paths: pathsOf(answer.tree.nodes) };
    },
  });

/** Both ways along edges, or only where they lead. */
export type Way = 'both' | 'out';

/** A resource and everything within a number of edges, at most 250 nodes. */
export const neighboursQuery = (entityId: string, account: string, depth: number, way: Way = 'both') =>
  queryOptions({
    queryKey: ['graph', 'neighbours', entityId, depth, way],
    enabled: account !== '',
    staleTime: 30_000,
    queryFn: async (): Promise<Graph & { cut: boolean }> => {
      const gremlin = `g.V().hasId(${quoted(entityId)}).emit().repeat(${way}().dedup()).times(${depth}).dedup().limit(${most + 1})`;
      const answer = await posture.post('/v1/entities/graph-query', { body: { partitionKey: account, gremlin } });
      const ids = [...new Set([entityId, ...Object.keys(answer.entities)])];
      const nodes = new Map(ids.slice(0, most).map((id) => [id, nodeOf(id, answer.entities[id])]));
      return { nodes, edges: among(nodes, answer.edges), cut: ids.length > most };
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
        const gremlin = `g.V().hasId(${ids.map(quoted).join(', ')}).emit().repeat(both().dedup()).times(1).dedup().limit(${most + 1})`;
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
