import { Link } from '@tanstack/react-router';
import type { RDSServer } from '../../api/desktop';
import { rdsStatus, type Component } from '../components';
import { Hatch } from '../Hatch';

const ramp = (load: number) => Math.min(5, 1 + Math.floor(load / 20));

/** Every RDS server as a small square in the shade of its load, in the order of the farms. */
export function ServerTiles({ servers, farms }: { servers: RDSServer[]; farms: Component[] }) {
  const order = new Map(farms.map((f, i) => [f.id, i]));
  const sorted = [...servers].sort((a, b) => (order.get(a.farm_id) ?? 0) - (order.get(b.farm_id) ?? 0) || a.name.localeCompare(b.name));
  const columns = 34;
  const bad = servers.filter((s) => rdsStatus(s) === 'error').length;
  return (
    <Link to="/rds-servers" className="server-tiles" aria-label={`${servers.length} RDS servers, ${bad} in error`}>
      <Hatch />
      <svg viewBox={`0 0 ${columns * 8.7} ${Math.ceil(sorted.length / columns) * 8.7}`} aria-hidden="true">
        {sorted.map((s, i) => {
          const status = rdsStatus(s);
          const fill = status === 'ok' ? `r${ramp(s.load_index ?? 0)}` : status;
          return (
            <rect
              key={s.id}
              className={`st-${fill}`}
              x={(i % columns) * 8.7}
              y={Math.floor(i / columns) * 8.7}
              width="7.7"
              height="7.7"
              rx="1"
            />
          );
        })}
      </svg>
      <span className="ramp-legend small t3">
        load 0{' '}
        {[1, 2, 3, 4, 5].map((n) => (
          <span key={n} className={`swatch bg-r${n}`} />
        ))}{' '}
        100{' '}
        <span className="end row tight">
          <span className="swatch b-error" />
          error <span className="swatch b-off" />
          off
        </span>
      </span>
    </Link>
  );
}
