import { memo } from 'react';
import type { RDSServer } from '../../api/desktop';
import { groupOf } from './groups';

export type Colour = 'load' | 'sessions' | 'state' | 'version' | 'system';

/** The shade for a percentage: 1 to 5. */
const shadeOf = (share: number) => Math.min(5, 1 + Math.floor(share / 20));
const height = 24;

/** The load of a server, or how many of its sessions are taken, in percent. */
function share(s: RDSServer, colour: Colour): number {
  if (colour === 'sessions') return (100 * (s.session_count ?? 0)) / Math.max(1, s.details.max_sessions_count_configured ?? 1);
  return s.load_index ?? 0;
}

/**
 * The servers of a farm as tiles. A tile shows the property `colour` by its height and shade, or a shape if something is wrong.
 * The tile of the server with the id `chosen` has a frame.
 */
export const FarmTiles = memo(function FarmTiles({
  servers,
  colour,
  chosen,
}: {
  servers: RDSServer[];
  colour: Colour;
  chosen: string | undefined;
}) {
  const width = 100 / Math.max(servers.length, 10);
  const categoryOf = (s: RDSServer) => (colour === 'system' ? s.details.operating_system : s.details.agent_version);
  const categories = [...new Set(servers.map(categoryOf))].sort();
  return (
    <svg className="farm-tiles" viewBox={`0 0 200 ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {servers.map((s, i) => {
        const x = 2 * i * width;
        const w = 2 * width - 1.6;
        const { mark } = groupOf(s);
        if (mark === 'error')
          return (
            <g key={s.id}>
              <rect className="st-error" x={x} width={w} height={height} rx="2" />
              <path className="tile-cross" d={`M${x + w / 2 - 3} ${height / 2 - 3}l6 6m0-6l-6 6`} />
            </g>
          );
        if (mark === 'off') return <rect key={s.id} className="tile-off" x={x + 0.4} y=".4" width={w - 0.8} height={height - 0.8} rx="2" />;
        if (mark === 'unknown')
          return <rect key={s.id} className="tile-unknown" x={x + 0.5} y=".5" width={w - 1} height={height - 1} rx="2" />;
        const value = share(s, colour);
        const shade =
          colour === 'version' || colour === 'system'
            ? `st-r${2 + (categories.indexOf(categoryOf(s)) % 4)}`
            : colour === 'state'
              ? 'tile-ok'
              : `st-r${shadeOf(value)}`;
        const tall = colour === 'load' || colour === 'sessions' ? Math.max(2, (value * height) / 100) : height;
        return (
          <g key={s.id}>
            <rect className="tile-track" x={x} width={w} height={height} rx="2" />
            {mark === 'warn' ? (
              <>
                <rect className="tile-warn" x={x + 0.4} y=".4" width={w - 0.8} height={height - 0.8} rx="2" />
                <path className="st-warn" d={`M${x + w / 2} ${height / 2 - 4}l4 7h-8z`} />
              </>
            ) : (
              <rect className={shade} x={x} y={height - tall} width={w} height={tall} rx="1.5" />
            )}
          </g>
        );
      })}
      {chosen && servers.some((s) => s.id === chosen) && (
        <rect
          className="tile-chosen"
          x={2 * servers.findIndex((s) => s.id === chosen) * width - 0.4}
          y="-1"
          width={2 * width - 0.8}
          height={height + 2}
          rx="2"
        />
      )}
    </svg>
  );
});
