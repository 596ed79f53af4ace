import { describe, expect, it, test } from 'vitest';
import { around, cardEdgeOf, hiddenNeighbours, nodeOf, type Graph } from './model';

const graph = (...edges: [string, string][]): Graph => ({
  nodes: new Map(edges.flat().map((id) => [id, nodeOf(id)])),
  edges: edges.map(([from, to]) => ({ from, label: 'USES', to })),
});

describe('the graph around resources', () => {
  it('has their neighbours, and no edges between neighbours', () => {
    const g = around(graph(['a', 'x'], ['y', 'a'], ['x', 'y'], ['z', 'x']), ['a']);
    expect([...g.nodes.keys()].sort()).toEqual(['a', 'x', 'y']);
    expect(g.edges.map((e) => `${e.from}${e.to}`)).toEqual(['ax', 'ya']);
    expect(g.cut).toBe(false);
  });
  it('keeps resources without neighbours', () => {
    expect([...around(graph(['a', 'x']), ['a', 'lonely']).nodes.keys()]).toEqual(['a', 'lonely', 'x']);
  });
  it('leaves out neighbours when there are too many, never the resources', () => {
    const g = around(graph(...Array.from({ length: 300 }, (_, i): [string, string] => ['a', `n${i}`])), ['a', 'b']);
    expect(g.nodes.size).toBe(100);
    expect(g.nodes.has('b')).toBe(true);
    expect(g.cut).toBe(true);
    expect(g.edges.every((e) => g.nodes.has(e.to))).toBe(true);
  });
});

test('neighbours that are not drawn are counted', () => {
  const hidden = hiddenNeighbours(
    graph(['a', 'x'], ['x', 'a'], ['a', 'y']),
    // How many neighbours each node has in all.
    new Map([
      ['a', 5],
      ['x', 1],
      ['y', 0],
    ]),
  );
  expect([...hidden]).toEqual([
    ['a', 3],
    ['x', 0],
    ['y', 0],
  ]);
});

describe('the edge that labels a card', () => {
  const g: Graph = {
    nodes: new Map(['me', 'a', 'b', 'c'].map((id) => [id, nodeOf(id)])),
    edges: [
      { from: 'a', label: 'SELF', to: 'a' },
      { from: 'me', label: 'USES', to: 'a' },
      { from: 'b', label: 'READS', to: 'me' },
      { from: 'b', label: 'IN', to: 'c' },
    ],
  };
  it('leads to the card, or from it to the centre', () => {
    expect(['a', 'b', 'c'].map((id) => cardEdgeOf(g, id, 'me')?.label)).toEqual(['USES', 'READS', 'IN']);
    expect(cardEdgeOf(g, 'b', 'c')?.label).toBe('IN');
  });
  it('is none for the centre, and for a card that no edge leads to', () => {
    expect(cardEdgeOf(g, 'me', 'me')).toBeUndefined();
    expect(cardEdgeOf(g, 'b', '')).toBeUndefined();
  });
});
