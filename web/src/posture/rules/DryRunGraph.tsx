import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { Answer, Empty, Skeleton } from '../../parts/states';
import { count, plural } from '../../parts/text';
import { aroundQuery } from '../graph/load';

const GraphView = lazy(() => import('../graph/GraphView'));

export interface Found {
  entityId: string;
  account: string;
  /** If false, it is unknown whether the resource violates the rule. */
  violates: boolean;
}

/** At most this many resources are drawn: nobody looks at more cards one by one. */
const mostDrawn = 20;

interface Props {
  /** The resources that the server lists. */
  found: Found[];
  /** The number of resources that violate the rule or are unknown. If they are many, the server lists only some. */
  total: number;
  /** If false, not everything was read that the rule reads. */
  complete: boolean;
}

/** The resources that a dry run found, with what they are connected to. */
export function DryRunGraph({ found, total, complete }: Props) {
  const navigate = useNavigate();
  const drawn = [...found].sort((a, b) => Number(b.violates) - Number(a.violates)).slice(0, mostDrawn);
  const query = useQuery(aroundQuery(drawn.map((f) => ({ id: f.entityId, account: f.account }))));
  if (drawn.length === 0)
    return (
      <Empty padded title="Nothing to draw">
        {complete ? 'No resource violates the rule, and none is unknown.' : 'No violation was found, but not everything could be read.'}
      </Empty>
    );
  return (
    <Answer query={query} what="the graph" padded>
      {(graph) => (
        <>
          {(total > drawn.length || graph.cut) && (
            <p className="small t3 dry-note">
              The graph has {count(drawn.length)} of {plural(total, 'resource')}, those that violate the rule first
              {graph.cut ? ', and some of their neighbours' : ''}.
            </p>
          )}
          <div className="graph-band">
            <Suspense fallback={<Skeleton />}>
              <GraphView
                graph={graph}
                centre=""
                highlighted={new Set(drawn.filter((f) => f.violates).map((f) => f.entityId))}
                findings={new Map()}
                onOpen={(n) => void navigate({ to: `/resource/${encodeURIComponent(n.id)}` } as never)}
              />
            </Suspense>
          </div>
        </>
      )}
    </Answer>
  );
}
