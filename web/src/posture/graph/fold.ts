import { typeName } from '../../parts/text';
import { nodeOf, type Graph, type GraphNode } from './model';

/** A node of the graph, or a folded node that stands for many similar ones. */
export interface FoldedNode extends GraphNode {
  /** The ids of the nodes that a folded node stands for. */
  members?: string[];
}

/** More similar neighbours than this are folded. */
const most = 8;

/**
 * Folds leaves into one node: neighbours of the same node that have no other edge, if more than eight agree in type and in the label and
 * direction of their edge. Opened folds and highlighted nodes stay: a highlighted node can be the only cause of a finding.
 */
export function fold(
  graph: Graph,
  centre: string,
  opened: Set<string>,
  highlighted: Set<string>,
): Graph & { nodes: Map<string, FoldedNode> } {
  const degree = new Map<string, number>();
  for (const e of graph.edges) for (const id of [e.from, e.to]) degree.set(id, (degree.get(id) ?? 0) + 1);
  const similar = new Map<string, string[]>(); // the leaves with the same key
  for (const e of graph.edges) {
    const leaf = [e.to, e.from].find((id) => degree.get(id) === 1 && id !== centre);
    if (!leaf || highlighted.has(leaf)) continue;
    const other = leaf === e.to ? e.from : e.to;
    const key = `${other} ${leaf === e.to ? 'out' : 'in'} ${e.label} ${graph.nodes.get(leaf)?.type}`;
    similar.set(key, [...(similar.get(key) ?? []), leaf]);
  }
  const foldedInto = new Map<string, string>();
  const nodes = new Map<string, FoldedNode>(graph.nodes);
  for (const [key, members] of similar) {
    if (members.length <= most || opened.has(key)) continue;
    const type = graph.nodes.get(members[0] ?? '')?.type ?? '';
    for (const id of members) {
      foldedInto.set(id, key);
      nodes.delete(id);
    }
    nodes.set(key, { ...nodeOf(key), id: key, name: `${members.length} alike`, type: typeName(type), members });
  }
  const seen = new Set<string>();
  const edges = graph.edges
    .map((e) => ({ ...e, from: foldedInto.get(e.from) ?? e.from, to: foldedInto.get(e.to) ?? e.to }))
    .filter((e) => {
      const key = `${e.from} ${e.label} ${e.to}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  return { nodes, edges };
}
