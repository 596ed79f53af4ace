import { useEffect, useMemo, useRef } from 'react';
import { walkWithArrows } from '../../parts/arrows';
import { Icon } from '../../parts/Icon';
import { Mark, type MarkName } from '../../parts/marks';
import { count, middleCut } from '../../parts/text';
import type { FoldedNode } from './fold';
import { iconOfType } from './icons';
import { card, place } from './layout';
import { cardEdgeOf, type Graph } from './model';
import './graph.css';

interface Props {
  graph: Graph & { nodes: Map<string, FoldedNode> };
  centre: string;
  /** Nodes of the path that a rule took. */
  highlighted: Set<string>;
  /** How many findings a node has, and how bad the worst is. */
  findings: Map<string, { count: number; worst: MarkName }>;
  /** How many neighbours of a node are not drawn. */
  hidden?: Map<string, number>;
  onExpand?: (id: string) => void;
  onOpen: (node: FoldedNode) => void;
}

const margin = 28;

/** Resources as cards, left to right. Arrows move between cards, Enter opens one. */
export default function GraphView({ graph, centre, highlighted, findings, hidden, onExpand, onOpen }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const places = useMemo(() => place(graph), [graph]);
  const xs = [...places.values()].map((p) => p.x);
  const ys = [...places.values()].map((p) => p.y);
  const left = Math.min(...xs) - card.width / 2 - margin;
  const top = Math.min(...ys) - card.height / 2 - margin;
  const width = Math.max(...xs) + card.width / 2 + margin - left;
  const height = Math.max(...ys) + card.height / 2 + margin - top;

  // A graph that is wider than the window begins at its centre.
  useEffect(() => {
    const at = places.get(centre);
    const scroller = box.current;
    if (at && scroller) scroller.scrollTo(at.x - left - scroller.clientWidth / 2, at.y - top - scroller.clientHeight / 2);
  }, [centre, left, top, places]);

  return (
    <div className="graph-scroll" ref={box} tabIndex={0} role="region" aria-label="Graph">
      <div className="graph-canvas" style={{ width, height }} onKeyDown={(e) => walkWithArrows(e, '.graph-card')}>
        <svg width={width} height={height} aria-hidden="true">
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M1 1l5 3-5 3" className="arrow" />
            </marker>
          </defs>
          {graph.edges.map((e) => {
            const a = places.get(e.from);
            const b = places.get(e.to);
            if (!a || !b) return null;
            const back = b.x < a.x;
            const x1 = a.x - left + (back ? -1 : 1) * (card.width / 2);
            const x2 = b.x - left + (back ? 1 : -1) * (card.width / 2);
            const bend = Math.max(16, Math.abs(x2 - x1) / 2) * (back ? -1 : 1);
            const isHighlighted = highlighted.has(e.from) && highlighted.has(e.to);
            return (
              <path
                key={`${e.from}${e.label}${e.to}`}
                className={`graph-edge ${isHighlighted ? 'hot' : ''}`}
                markerEnd="url(#arrow)"
                d={`M${x1} ${a.y - top}C${x1 + bend} ${a.y - top} ${x2 - bend} ${b.y - top} ${x2} ${b.y - top}`}
              />
            );
          })}
        </svg>
        {[...graph.nodes.values()].map((n: FoldedNode) => {
          const p = places.get(n.id);
          if (!p) return null;
          const edge = cardEdgeOf(graph, n.id, centre);
          const found = findings.get(n.id);
          const more = (onExpand && hidden?.get(n.id)) || 0;
          return (
            <div
              key={n.id}
              className="graph-place"
              style={{ transform: `translate(${p.x - left - card.width / 2}px, ${p.y - top - card.height / 2}px)` }}
            >
              {edge && <span className={`graph-label ${highlighted.has(n.id) ? 'hot' : ''}`}>{edge.label}</span>}
              <button
                type="button"
                data-node={n.id}
                className={`graph-card ${n.id === centre ? 'me' : ''} ${highlighted.has(n.id) ? 'hot' : ''} ${n.members ? 'folded' : ''}`}
                title={n.name}
                onClick={() => onOpen(n)}
              >
                <Icon name={iconOfType(n.type)} />
                <span className={`grow ${more ? 'graph-short' : ''}`}>
                  <span className="graph-name cut">{middleCut(n.name, 20)}</span>
                  <span className="graph-type cut">{n.type}</span>
                </span>
                {found && (
                  <span className={`graph-count c-${found.worst}`}>
                    <Mark name={found.worst} label />
                    {found.count}
                    <span className="hide"> findings</span>
                  </span>
                )}
              </button>
              {more > 0 && (
                <button
                  type="button"
                  className="graph-more"
                  aria-label={`Show ${more} more neighbours of ${n.name}`}
                  onClick={() => onExpand?.(n.id)}
                >
                  +{count(more)}
                </button>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}
