import cytoscape from 'cytoscape';
import dagre from 'cytoscape-dagre';
import type { Graph } from './model';

cytoscape.use(dagre as cytoscape.Ext);

export const card = { width: 166, height: 40 };

/** The positions of the centres of the nodes, left to right, without overlap. Cytoscape only computes the layout; the console draws the graph. */
export function place(graph: Graph): Map<string, { x: number; y: number }> {
  const cy = cytoscape({
    headless: true,
    styleEnabled: true,
    style: [{ selector: 'node', style: { width: card.width, height: card.height + 14, shape: 'rectangle' } }],
    elements: [
      ...[...graph.nodes.keys()].map((id) => ({ data: { id } })),
      ...graph.edges.map((e, i) => ({ data: { id: `e${i}`, source: e.from, target: e.to } })),
    ],
  });
  cy.layout({ name: 'dagre', rankDir: 'LR', nodeSep: 8, rankSep: 44, fit: false, animate: false } as cytoscape.LayoutOptions).run();
  const places = new Map<string, { x: number; y: number }>();
  cy.nodes().forEach((n) => void places.set(n.id(), { ...n.position() }));
  cy.destroy();
  return places;
}
