import { expect, test } from 'vitest';
import { fold } from './fold';
import { nodeOf, type Graph } from './model';

/** A node with n leaves: l0, l1 and so on. */
const star = (n: number): Graph => {
  const leaves = Array.from({ length: n }, (_, i) => `l${i}`);
  return {
    nodes: new Map(['c', ...leaves].map((id) => [id, nodeOf(id)])),
    edges: leaves.map((to) => ({ from: 'c', label: 'USES', to })),
  };
};
const none = new Set<string>();

test('more than eight leaves that are alike become one node', () => {
  expect(fold(star(8), 'c', none, none).nodes.size).toBe(9);
  const folded = fold(star(9), 'c', none, none);
  expect([...folded.nodes.values()].map((n) => n.name)).toEqual(['c', '9 alike']);
  expect(folded.edges).toHaveLength(1);
});

test('the leaves of a folded node that was opened are shown', () => {
  const [, key = ''] = [...fold(star(9), 'c', none, none).nodes.keys()];
  expect(fold(star(9), 'c', new Set([key]), none).nodes.size).toBe(10);
});

test('a leaf on the path of a rule stays a node of its own', () => {
  const folded = fold(star(10), 'c', none, new Set(['c', 'l7']));
  expect([...folded.nodes.values()].map((n) => n.name)).toEqual(['c', 'l7', '9 alike']);
  expect(folded.edges.map((e) => e.to)).toContain('l7');
});
