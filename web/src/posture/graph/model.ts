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

/** Every way from the root of a tree to a leaf. */
export const pathsOf = (nodes: TreeNode[]): string[][] =>
  nodes.flatMap((n) => (n.childNodes.length ? pathsOf(n.childNodes).map((path) => [n.id, ...path]) : [[n.id]]));

/** A text of Gremlin, quoted. */
export const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Two graphs as one. */
export function union(a: Graph, b: Graph): Graph {
  const edges = [...a.edges, ...b.edges].map((e) => [`${e.from} ${e.label} ${e.to}`, e] as const);
  return { nodes: new Map([...a.nodes, ...b.nodes]), edges: [...new Map(edges).values()] };
}
