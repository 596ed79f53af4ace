import { Link } from '@tanstack/react-router';
import type { RDSServer } from '../../api/desktop';
import { rdsStatus, type Component } from '../components';
import { Hatch } from '../Hatch';
import { fillOf } from '../wall/load';

/** Every RDS server as a small square whose shade is its load, in the order of the farms. */
export function ServerTiles({ servers, farms }: { servers: RDSServer[]; farms: Component[] }) {
  const order = new Map(farms.map((f, i) => [f.id, i]));
  const sorted = [...servers].sort((a, b) => (order.get(a.farm_id) ?? 0) - (order.get(b.farm_id) ?? 0) || a.name.localeCompare(b.name));
  const columns = 34;
  const size = 7.7;
  const step = size + 1; // with the gap to the next square
  const bad = servers.filter((s) => rdsStatus(s) === 'error').length;
  return (
    <Link to="/rds-servers" className="server-tiles" aria-label={`${servers.length} RDS servers, ${bad} in error`}>
      <Hatch />
      <svg viewBox={`0 0 ${columns * step} ${Math.ceil(sorted.length / columns) * step}`} aria-hidden="true">
        {sorted.map((s, i) => (
          <rect
            key={s.id}
            className={`st-${fillOf(s)}`}
            x={(i % columns) * step}
            y={Math.floor(i / columns) * step}
            width={size}
            height={size}
            rx="1"
          />
        ))}
      </svg>
      <span className="ramp-legend small t3">
        load 0{' '}
        {[1, 2, 3, 4, 5].map((n) => (
          <span key={n} className={`swatch bg-r${n}`} />
        ))}{' '}
        100{' '}
        <span className="end row tight">
          <span className="swatch b-error" />
          error <span className="swatch b-unknown" />
          unknown <span className="swatch b-off" />
          off
        </span>
      </span>
    </Link>
  );
}
