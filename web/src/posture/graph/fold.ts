import { typeName } from '../../parts/text';
import { nodeOf, type Graph, type GraphNode } from './model';

/** A node that stands for many alike. */
export interface FoldedNode extends GraphNode {
  members?: string[];
}

const most = 8;

/**
 * Merges the neighbours of a node that have no other edge into one node when more than eight agree in type, label and direction.
 * Highlighted nodes stay: one of them can be the only cause of a finding.
 */
export function fold(
  graph: Graph,
  centre: string,
  opened: Set<string>,
  highlighted: Set<string>,
): Graph & { nodes: Map<string, FoldedNode> } {
  const degree = new Map<string, number>();
  for (const e of graph.edges) for (const id of [e.from, e.to]) degree.set(id, (degree.get(id) ?? 0) + 1);
  const sets = new Map<string, string[]>();
  for (const e of graph.edges) {
    const leaf = degree.get(e.to) === 1 && e.to !== centre ? e.to : degree.get(e.from) === 1 && e.from !== centre ? e.from : undefined;
    if (!leaf || highlighted.has(leaf)) continue;
    const other = leaf === e.to ? e.from : e.to;
    const key = `${other} ${leaf === e.to ? 'out' : 'in'} ${e.label} ${graph.nodes.get(leaf)?.type}`;
    sets.set(key, [...(sets.get(key) ?? []), leaf]);
  }
  const into = new Map<string, string>();
  const nodes = new Map<string, FoldedNode>(graph.nodes);
  for (const [key, members] of sets) {
    if (members.length <= most || opened.has(key)) continue;
    const type = graph.nodes.get(members[0] ?? '')?.type ?? '';
    for (const id of members) {
      into.set(id, key);
      nodes.delete(id);
    }
    nodes.set(key, { ...nodeOf(key), id: key, name: `${members.length} alike`, type: typeName(type), members });
  }
  const seen = new Set<string>();
  const edges = graph.edges
    .map((e) => ({ ...e, from: into.get(e.from) ?? e.from, to: into.get(e.to) ?? e.to }))
    .filter((e) => {
      const key = `${e.from} ${e.label} ${e.to}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  return { nodes, edges };
}
