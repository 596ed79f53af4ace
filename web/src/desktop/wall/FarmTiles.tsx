import { memo } from 'react';
import type { RDSServer } from '../../api/desktop';
import { groupOf } from './groups';
import { share, shadeOf } from './load';

export type Colour = 'load' | 'sessions' | 'state' | 'version' | 'system';

const height = 24;

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
  // The width of a tile with its gap, in percent of the view box, which is 200 wide. With few servers, tiles are as wide as with ten.
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
        if (mark === 'warn')
          return (
            <g key={s.id}>
              <rect className="tile-track" x={x} width={w} height={height} rx="2" />
              <rect className="tile-warn" x={x + 0.4} y=".4" width={w - 0.8} height={height - 0.8} rx="2" />
              <path className="st-warn" d={`M${x + w / 2} ${height / 2 - 4}l4 7h-8z`} />
            </g>
          );
        // The other properties are shown by a full tile.
        const percent = colour === 'load' || colour === 'sessions' ? share(s, colour) : 100;
        if (mark === 'unknown' || percent === undefined)
          return <rect key={s.id} className="tile-unknown" x={x + 0.5} y=".5" width={w - 1} height={height - 1} rx="2" />;
        const shade =
          colour === 'version' || colour === 'system'
            ? `st-r${2 + (categories.indexOf(categoryOf(s)) % 4)}`
            : colour === 'state'
              ? 'tile-ok'
              : `st-r${shadeOf(percent)}`;
        const tall = Math.max(2, (percent * height) / 100);
        return (
          <g key={s.id}>
            <rect className="tile-track" x={x} width={w} height={height} rx="2" />
            <rect className={shade} x={x} y={height - tall} width={w} height={tall} rx="1.5" />
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
