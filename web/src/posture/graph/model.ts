import type { Entity, GraphAnswer } from '../../api/posture';
import { nameInId, typeName } from '../../parts/text';

/** A graph of resources as the console draws it. */
export interface GraphNode {
  id: string;
  name: string;
  type: string;
  entity?: Entity;
}
export interface GraphEdge {
  from: string;
  label: string;
  to: string;
}
export interface Graph {
  nodes: Map<string, GraphNode>;
  edges: GraphEdge[];
}

export type TreeNode = GraphAnswer['tree']['nodes'][number];

export const nodeOf = (id: string, entity?: Entity): GraphNode => {
  const parts = id.split('.');
  return {
    id,
    name: entity?.entityName || nameInId(id),
    type: entity ? typeName(entity.entityType) : (parts[4] ?? ''),
    ...(entity ? { entity } : {}),
  };
};

/** The paths from the roots of a tree to its leaves. */
export const pathsOf = (nodes: TreeNode[]): string[][] =>
  nodes.flatMap((n) => (n.childNodes.length ? pathsOf(n.childNodes).map((path) => [n.id, ...path]) : [[n.id]]));

/** A text as a string literal of Gremlin. */
export const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Two graphs as one. */
export function union(a: Graph, b: Graph): Graph {
  const edges = [...a.edges, ...b.edges].map((e) => [`${e.from} ${e.label} ${e.to}`, e] as const);
  return { nodes: new Map([...a.nodes, ...b.nodes]), edges: [...new Map(edges).values()] };
}

/** The edge whose label a card has: one that leads to it, or from it to the centre. The centre has none. */
export const cardEdgeOf = (graph: Graph, id: string, centre: string): GraphEdge | undefined =>
  id === centre ? undefined : graph.edges.find((e) => (e.to === id && e.from !== id) || (e.from === id && e.to === centre));

/** How many neighbours of each node are not in the graph, of those that it has in all. */
export function hiddenNeighbours(graph: Graph, degrees: Map<string, number>): Map<string, number> {
  const near = new Map<string, Set<string>>([...degrees.keys()].map((id) => [id, new Set()]));
  for (const e of graph.edges) {
    near.get(e.from)?.add(e.to);
    near.get(e.to)?.add(e.from);
  }
  return new Map([...degrees].map(([id, all]) => [id, Math.max(0, all - (near.get(id)?.size ?? 0))]));
}

/** At most this many nodes are drawn with several resources: the layout of many more takes seconds. */
const mostAround = 100;

/** Resources and their neighbours, with the edges to them. Edges between neighbours are left out, and neighbours beyond mostAround nodes. */
export function around(all: Graph, ids: string[]): Graph & { cut: boolean } {
  const own = new Set(ids);
  const edges = all.edges.filter((e) => own.has(e.from) || own.has(e.to));
  const near = [...new Set(edges.flatMap((e) => [e.from, e.to]))].filter((id) => !own.has(id) && all.nodes.has(id));
  const kept = [...ids, ...near].slice(0, Math.max(mostAround, ids.length));
  const nodes = new Map(kept.map((id) => [id, all.nodes.get(id) ?? nodeOf(id)]));
  return {
    nodes,
    edges: edges.filter((e) => nodes.has(e.from) && nodes.has(e.to)),
    cut: kept.length < ids.length + near.length,
  };
}
