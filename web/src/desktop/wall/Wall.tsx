import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { Farm, RDSServer } from '../../api/desktop';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { StackBar } from '../../parts/Bars';
import { Button } from '../../parts/Button';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, systemName, words } from '../../parts/text';
import { fromFarm, fromRDS, hostName } from '../components';
import { countText, sessionCount, sessionLimit, sessionsShort, sessionsText } from '../counts';
import { farmsQuery, rdsQuery } from '../data';
import { Hatch } from '../Hatch';
import { ComponentPanel } from '../kinds/ComponentPanel';
import { rank, worst, type Status } from '../status';
import { FarmTiles, type Colour } from './FarmTiles';
import { groupNamed, groupOf, groups } from './groups';
import { measuredLoads, median } from './load';
import '../kinds/kinds.css';
import '../health/health.css';
import './wall.css';

/** The limit of the sessions of servers with what is before it, such as " of 40"; empty if they have no limit. */
function limitText(servers: RDSServer[], before: string): string {
  const limit = sessionLimit(servers);
  return limit === undefined ? '' : `${before}${count(limit)}`;
}

interface FarmRow {
  key: string;
  name: string;
  status: Status;
  farm?: Farm;
  servers: RDSServer[];
}

type GroupBy = 'farm' | 'state' | 'version';

/** The worst status of the servers that are not disabled; off if all servers are disabled. */
function worstOf(statuses: Status[]): Status {
  const on = statuses.filter((s) => s !== 'off');
  return on.length ? worst(on) : 'off';
}

/** Servers grouped by their state or the version of their agent. Groups are split at forty servers, so that tiles stay wide enough to see. */
function groupsOf(servers: RDSServer[], by: 'state' | 'version'): FarmRow[] {
  const rows = new Map<string, RDSServer[]>();
  for (const s of servers) {
    const name = by === 'state' ? groupOf(s).label : s.details.agent_version;
    rows.set(name, [...(rows.get(name) ?? []), s]);
  }
  return [...rows]
    .sort(([a], [b]) => a.localeCompare(b))
    .flatMap(([name, all]) =>
      Array.from({ length: Math.ceil(all.length / 40) }, (_, i) => {
        const part = all.slice(i * 40, i * 40 + 40);
        return {
          key: `${name} ${i}`,
          name: all.length > 40 ? `${name} ${i * 40 + 1}–${i * 40 + part.length}` : name,
          status: worstOf(part.map((s) => fromRDS(s).status)),
          servers: part,
        };
      }),
    );
}

function Summary({ servers, legend }: { servers: RDSServer[]; legend: boolean }) {
  const loads = measuredLoads(servers);
  // A histogram of the loads from 0 to 100 in 14 bins.
  const bins = Array.from({ length: 14 }, (_, i) => loads.filter((l) => Math.min(13, Math.floor(l / 7.15)) === i).length);
  const most = Math.max(1, ...bins);
  return (
    <div className="wall-summary">
      <span>
        <b>{countText(sessionCount(servers))}</b> <span className="t3">{limitText(servers, 'of ')} sessions</span>
      </span>
      <span>
        <b>{median(loads) ?? 'unknown'}</b> <span className="t3">median load</span>
      </span>
      <svg width="112" height="26" aria-hidden="true">
        {bins.map((n, i) => (
          <rect
            key={i}
            className={`st-r${Math.min(5, 1 + Math.floor(i / 3))}`}
            x={i * 8}
            y={26 - (n * 26) / most}
            width="7"
            height={(n * 26) / most}
          />
        ))}
      </svg>
      <span className="wide">
        <b>{new Set(servers.map((s) => s.details.agent_version)).size}</b> <span className="t3">agent versions</span>
      </span>
      {legend && (
        <span className="small t3 row tight end wide">
          <span className="swatch bg-r3" />
          height is load
        </span>
      )}
    </div>
  );
}

function FarmPanel({ row }: { row: FarmRow & { farm: Farm } }) {
  const component = fromFarm(row.farm);
  return (
    <ComponentPanel
      component={component}
      actions={
        <Link className="btn" to={`/farms/${row.farm.id}`}>
          Open farm
        </Link>
      }
    >
      <dl className="kv">
        <div>
          <dt>Kind</dt>
          <dd>{component.detail}</dd>
        </div>
        <div>
          <dt>Applications</dt>
          <dd>{countText(row.farm.application_count)}</dd>
        </div>
        <div>
          <dt>Sessions</dt>
          <dd>
            {countText(sessionCount(row.servers))}
            {limitText(row.servers, ' of ')}
          </dd>
        </div>
      </dl>
      <section>
        <div className="region-head">
          <h3>Servers</h3>
          <span className="end">{row.servers.length}</span>
        </div>
        <ul className="list">
          {row.servers.map((s) => (
            <li key={s.id}>
              <Link className="row" to={`/rds-servers/${s.id}`}>
                <span className="strong wall-name cut" title={s.name}>
                  {hostName(s.name)}
                </span>
                <span className={`word small c-${groupOf(s).mark} grow cut`}>
                  <Mark name={groupOf(s).mark} />
                  {words(s.details.state).replace('agent err ', '')}
                </span>
                <span className="wall-load">
                  {s.load_index === undefined ? (
                    <span className="small t3" title="Load unknown">
                      –
                    </span>
                  ) : (
                    <StackBar total={100} parts={[{ name: 'ramp', value: s.load_index }]} />
                  )}
                </span>
                <span className="num small">{sessionsShort(s)}</span>
              </Link>
            </li>
          ))}
        </ul>
      </section>
    </ComponentPanel>
  );
}

function ServerTable({ servers, farmName }: { servers: RDSServer[]; farmName: (id: string) => string }) {
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            <th>Server</th>
            <th>State</th>
            <th>Farm</th>
            <th className="num">Load</th>
            <th className="num">Sessions</th>
            <th className="wide">Agent</th>
            <th className="wide">System</th>
          </tr>
        </thead>
        <tbody>
          {servers.map((s) => (
            <tr key={s.id}>
              <th scope="row">
                <Link to={`/rds-servers/${s.id}`}>{hostName(s.name)}</Link>
              </th>
              <td>
                <span className={`word c-${groupOf(s).mark}`}>
                  <Mark name={groupOf(s).mark} />
                  {words(s.details.state)}
                </span>
              </td>
              <td className="nowrap">{farmName(s.farm_id)}</td>
              <td className="num">{s.load_index ?? '–'}</td>
              <td className="num">{sessionsShort(s)}</td>
              <td className="wide">{s.details.agent_version}</td>
              <td className="wide">{systemName(s.details.operating_system)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** All RDS servers on one screen, as tiles by farm or as a table. The marks of servers with problems stand out. */
export default function Wall() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const { search, change } = useAddress();
  const navigate = useNavigate();
  const query = useQuery(rdsQuery);
  const groupBy: GroupBy = search.group === 'state' || search.group === 'version' ? search.group : 'farm';
  const farms = useQuery(farmsQuery);
  const all = query.data ?? [];
  const group = groupNamed(search.status);
  const names = new Map(farms.data?.map((f) => [f.id, f.name]));
  const matches = (s: RDSServer) =>
    (!group || groupOf(s) === group) &&
    `${s.name} ${names.get(s.farm_id)} ${s.details.agent_version} ${words(s.details.operating_system)}`
      .toLowerCase()
      .includes((search.q ?? '').toLowerCase());
  const rows = useMemo(() => {
    const byFarm = new Map<string, RDSServer[]>();
    for (const s of all) byFarm.set(s.farm_id, [...(byFarm.get(s.farm_id) ?? []), s]);
    if (groupBy !== 'farm') return groupsOf(all, groupBy);
    return (farms.data ?? [])
      .map((farm): FarmRow => ({
        key: farm.id,
        name: farm.name,
        status: fromFarm(farm).status,
        farm,
        servers: (byFarm.get(farm.id) ?? []).sort((a, b) => a.name.localeCompare(b.name)),
      }))
      .sort((a, b) => wallRank(a.status) - wallRank(b.status) || a.name.localeCompare(b.name, 'en', { numeric: true }));
  }, [all, farms.data, groupBy]);
  // Without a filter, farms that have no servers are shown too.
  const shown = rows.filter((r) => r.servers.some(matches) || (!search.q && !group));
  const server = all.find((s) => s.id === id);
  const chosen = rows.find((r): r is FarmRow & { farm: Farm } => r.farm?.id === search.farm && r.farm !== undefined);
  const table = search.view === 'table';
  const colour = (search.color ?? 'load') as Colour;
  const tiles = shown.flatMap((r) => r.servers);
  const [tile, setTile] = useState<string>(); // the id of the server whose tile was reached with the arrow keys
  const close = () => (id ? void navigate({ to: '/rds-servers', search } as never) : change({ farm: undefined }));
  // Shows the farm in the panel, instead of a server. If the panel shows this farm already, closes it.
  const openFarm = (farm: string) =>
    id
      ? void navigate({ to: '/rds-servers', search: { ...search, farm } } as never)
      : change({ farm: farm === search.farm ? undefined : farm });
  const open = (serverId: string) => void navigate({ to: `/rds-servers/${serverId}`, search } as never);
  // Arrows go from tile to tile: left and right to the neighbour, also in the next farm; up and down to the farm above or below.
  const step = (key: string) => {
    const at = tiles.findIndex((s) => s.id === tile);
    if (at < 0) return setTile(tiles[0]?.id);
    if (key === 'ArrowLeft' || key === 'ArrowRight')
      return setTile(tiles[Math.max(0, Math.min(tiles.length - 1, at + (key === 'ArrowRight' ? 1 : -1)))]?.id);
    const row = shown.findIndex((r) => r.servers.some((s) => s.id === tile));
    const within = shown[row]?.servers.findIndex((s) => s.id === tile) ?? 0;
    const columns = getComputedStyle(document.querySelector('.wall') ?? document.body).gridTemplateColumns.split(' ').length;
    const next = shown[row + (key === 'ArrowDown' ? columns : -columns)]?.servers;
    if (next?.length) setTile(next[Math.min(within, next.length - 1)]?.id);
  };
  useEffect(() => {
    if (tile) document.querySelector('.tile-chosen')?.scrollIntoView({ block: 'nearest' });
  }, [tile]);
  const focused = tiles.find((s) => s.id === tile);
  useKeys([
    { keys: 'v', does: 'Wall or table', run: () => change({ view: table ? undefined : 'table' }) },
    ...(table
      ? []
      : ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'].map((keys) => ({ keys, does: 'From tile to tile', run: () => step(keys) }))),
    ...(tile && !table ? [{ keys: 'Enter', does: 'Open the server', run: () => open(tile) }] : []),
    ...(chosen || server ? [{ keys: 'Escape', does: 'Close', run: close }] : []),
  ]);
  return (
    <Page
      title="RDS servers"
      actions={
        !table && (
          <span className="row tight wide">
            <Select<Colour>
              label="Colour"
              visibleLabel
              value={colour}
              onChange={(c) => change({ color: c === 'load' ? undefined : c })}
              options={[
                { value: 'load', label: 'Load' },
                { value: 'sessions', label: 'Sessions' },
                { value: 'state', label: 'State' },
                { value: 'version', label: 'Agent version' },
                { value: 'system', label: 'System' },
              ]}
            />
            <Select<GroupBy>
              label="Group"
              visibleLabel
              value={groupBy}
              onChange={(g) => change({ group: g === 'farm' ? undefined : g, farm: undefined })}
              options={[
                { value: 'farm', label: 'Farm' },
                { value: 'state', label: 'State' },
                { value: 'version', label: 'Agent version' },
              ]}
            />
          </span>
        )
      }
      beside={
        <>
          <span className="t3 wide roomy">
            {count(all.length)} in {farms.data?.length ?? '–'} farms
          </span>
          <Segments
            label="View"
            value={table ? 'table' : 'wall'}
            onChange={(v) => change({ view: v === 'wall' ? undefined : v })}
            options={[
              { value: 'wall', label: 'Wall' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </>
      }
    >
      <div className="toolbar">
        <SearchInput
          label="Search servers"
          placeholder="Search name, version, OS"
          value={search.q ?? ''}
          onChange={(q) => change({ q: q || undefined })}
        />
        <Segments
          label="State"
          value={group?.name ?? 'all'}
          onChange={(s) => change({ status: s === 'all' ? undefined : s })}
          options={[
            { value: 'all', label: 'All', count: all.length },
            ...groups.map((g) => ({
              value: g.name,
              label: (
                <>
                  <Mark name={g.mark} />
                  {g.label}
                </>
              ),
              count: all.filter((s) => groupOf(s).name === g.name).length,
            })),
          ]}
        />
      </div>
      <div className={`kind-split ${chosen || server ? 'with-panel' : ''}`}>
        <Answer query={query} what="the list" padded>
          {() => (
            <div className="wall-main">
              <Hatch />
              <Summary servers={all} legend={!table} />
              <p className="hide" aria-live="polite">
                {focused && !table
                  ? `${hostName(focused.name)}, ${words(focused.details.state)}, load ${focused.load_index ?? 'unknown'}`
                  : ''}
              </p>
              <Answer query={farms} what="the list of farms">
                {() =>
                  shown.length === 0 ? (
                    <Empty
                      title="None matches"
                      action={<Button onClick={() => change({ q: undefined, status: undefined })}>Clear all</Button>}
                    />
                  ) : table ? (
                    <ServerTable servers={all.filter(matches).sort(disabledLast)} farmName={(f) => names.get(f) ?? f} />
                  ) : (
                    <ul className="wall">
                      {shown.map((r) => (
                        <li key={r.key}>
                          <button
                            type="button"
                            className={`wall-farm ${r.status} ${r.key === search.farm ? 'on' : ''}`}
                            aria-pressed={r.key === search.farm}
                            disabled={!r.farm}
                            onClick={() => openFarm(r.key)}
                          >
                            <span className="row tight small">
                              {r.status !== 'ok' && <Mark name={r.status} label />}
                              <span className="wall-farm-name cut">{r.name}</span>
                              <span className="end">
                                {r.status === 'off' ? (
                                  'disabled'
                                ) : (
                                  <>
                                    {countText(sessionCount(r.servers))}
                                    <span className="t3">{limitText(r.servers, '/')}</span>
                                  </>
                                )}
                              </span>
                            </span>
                            <FarmTiles
                              servers={r.servers}
                              colour={colour}
                              chosen={r.servers.some((s) => s.id === tile) ? tile : undefined} // memo skips the other farms
                            />
                          </button>
                        </li>
                      ))}
                    </ul>
                  )
                }
              </Answer>
            </div>
          )}
        </Answer>
        {(chosen || server) && (
          <aside className="panel" aria-label="Details">
            <Button look="quiet" icon="x" className="panel-close" aria-label="Close" onClick={close} />
            {server ? (
              <ComponentPanel
                component={fromRDS(server)}
                actions={
                  <Link className="btn" to="/rds-servers" search={{ farm: server.farm_id } as never}>
                    Its farm
                  </Link>
                }
              >
                <dl className="kv">
                  <div>
                    <dt>Farm</dt>
                    <dd>{names.get(server.farm_id)}</dd>
                  </div>
                  <div>
                    <dt>Load</dt>
                    <dd>{server.load_index ?? 'unknown'}</dd>
                  </div>
                  <div>
                    <dt>Sessions</dt>
                    <dd>{sessionsText(server)}</dd>
                  </div>
                  <div>
                    <dt>Agent</dt>
                    <dd>{server.details.agent_version}</dd>
                  </div>
                  <div>
                    <dt>System</dt>
                    <dd>{systemName(server.details.operating_system)}</dd>
                  </div>
                </dl>
              </ComponentPanel>
            ) : (
              chosen && <FarmPanel row={chosen} />
            )}
          </aside>
        )}
      </div>
    </Page>
  );
}

/** Like rank, but disabled comes last. */
const wallRank = (status: Status) => (status === 'off' ? 9 : rank(status));
/** Orders by status, the worst first and those that are disabled last, then by name. */
const disabledLast = (a: RDSServer, b: RDSServer) =>
  wallRank(fromRDS(a).status) - wallRank(fromRDS(b).status) || a.name.localeCompare(b.name, 'en', { numeric: true });
