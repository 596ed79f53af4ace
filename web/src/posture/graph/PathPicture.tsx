import { Link } from '@tanstack/react-router';
import { Icon } from '../../parts/Icon';
import { middleCut, plural } from '../../parts/text';
import { iconOfType } from './icons';
import type { Picture } from './load';
import type { Graph } from './model';

/** The label of the edge between two consecutive nodes of a path, and whether the edge points back to the first. */
function labelBetween(graph: Graph, from: string, to: string): { text: string; back: boolean } {
  const out = graph.edges.find((e) => e.from === from && e.to === to);
  if (out) return { text: out.label, back: false };
  const back = graph.edges.find((e) => e.from === to && e.to === from);
  return { text: back?.label ?? '', back: !!back };
}

const spoken = (label: string) => label.toLowerCase().replaceAll('_', ' ');

/** The paths that a rule followed from a resource: each a row of circles; a list on narrow screens. */
export function PathPicture({ picture, entityId }: { picture: Picture; entityId: string }) {
  const { graph, paths } = picture;
  const shown = paths
    .filter((p) => p.length > 1)
    .sort((a, b) => b.length - a.length)
    .slice(0, 3);
  if (shown.length === 0) return <p className="small t3">The rule reads only this resource.</p>;
  return (
    <div className="paths">
      {shown.map((path) => (
        <ol key={path.join()} className={`path ${path.length < 4 ? 'roomy' : path.length < 5 ? 'medium' : ''}`}>
          {path.map((id, i) => {
            const node = graph.nodes.get(id);
            const before = path[i - 1];
            const link = before ? labelBetween(graph, before, id) : undefined;
            return (
              <li key={id} className={id === entityId ? 'me' : i === path.length - 1 ? 'last' : ''}>
                {link && (
                  <span className={`path-edge ${link.back ? 'back' : ''}`}>
                    <span>{spoken(link.text)}</span>
                  </span>
                )}
                <Link to={`/resource/${encodeURIComponent(id)}`} className="path-node" title={node?.name}>
                  <span className="path-dot">
                    <Icon name={iconOfType(node?.type ?? '')} />
                  </span>
                  <span className="path-name cut">{middleCut(node?.name ?? id, 18)}</span>
                  <span className="path-type cut">{node?.type}</span>
                </Link>
              </li>
            );
          })}
        </ol>
      ))}
      {paths.length > shown.length && (
        <p className="small t3">{plural(paths.length - shown.length, 'more path')}: see the graph of the resource.</p>
      )}
    </div>
  );
}
