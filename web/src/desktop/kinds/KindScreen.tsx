import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { focusSoon, useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { byStatus, type Component } from '../components';
import { countBy, type Status } from '../status';
import { ComponentPanel, Parts } from './ComponentPanel';
import { kinds, type KindSpec } from './columns';
import { Matrix } from './Matrix';
import './kinds.css';

const statusLabels: Record<Status | 'all', string> = {
  all: 'All',
  ok: 'OK',
  warn: 'Warning',
  error: 'Error',
  unknown: 'Unknown',
  off: 'Disabled',
};

const cellClass = (c: KindSpec['columns'][number]) => [c.wide && 'wide', c.roomy && 'roomy', c.num && 'num'].filter(Boolean).join(' ');

interface Row {
  /** The component as the API gives it. Its type depends on the kind. The functions of every KindSpec accept a value of type `never`. */
  item: never;
  component: Component;
}

function Table({
  spec,
  rows,
  chosen,
  cursor,
  path,
}: {
  spec: KindSpec;
  rows: Row[];
  chosen: string | undefined;
  cursor: number;
  path: string;
}) {
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            <th>Name</th>
            <th>Status</th>
            {spec.columns.map((c) => (
              <th key={c.head} className={cellClass(c)}>
                {c.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ item, component: c }, i) => (
            <tr key={c.id} className={c.id === chosen || i === cursor ? 'on' : ''}>
              <th scope="row">
                <Link to={`/${path}/${encodeURIComponent(c.id)}`}>{c.name}</Link>
              </th>
              <td>
                <span className={`word c-${c.status}`}>
                  <Mark name={c.status} />
                  {c.word}
                </span>
              </td>
              {spec.columns.map((col) => (
                <td key={col.head} className={cellClass(col)}>
                  {col.cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The list of one kind of component, with one of them beside it. */
export default function KindScreen() {
  const { kind = '', id } = useParams({ strict: false }) as { kind?: string; id?: string };
  const spec = kinds[kind];
  const navigate = useNavigate();
  const { search, change } = useAddress();
  const [cursor, setCursor] = useState(-1);
  // A hook must be called even if the kind, and with it the query, does not exist.
  const query = useQuery({ ...(spec?.query ?? { queryKey: ['none'], queryFn: () => Promise.resolve([]) }), enabled: !!spec } as unknown as {
    queryKey: string[];
    queryFn: () => Promise<never[]>;
  });
  const all: Row[] = (query.data ?? [])
    .map((item) => ({ item, component: (spec as KindSpec).component(item) }))
    .sort((a, b) => byStatus(a.component, b.component));
  const rows = all.filter(
    ({ component: c }) =>
      (!search.status || c.status === search.status) &&
      `${c.name} ${c.detail} ${c.word}`.toLowerCase().includes((search.q ?? '').toLowerCase()),
  );
  const chosen = all.find((r) => r.component.id === id);
  const move = (by: number) => {
    const next = Math.max(0, Math.min(cursor + by, rows.length - 1));
    setCursor(next);
    focusSoon(`.kind-split tbody tr:nth-child(${next + 1}) th a`);
  };
  const close = () => void navigate({ to: `/${kind}`, search } as never);
  useKeys([
    { keys: 'j', does: 'Next', run: () => move(1) },
    { keys: 'k', does: 'Previous', run: () => move(-1) },
    {
      keys: 'Enter',
      does: 'Open',
      run: () => rows[cursor] && void navigate({ to: `/${kind}/${encodeURIComponent(rows[cursor].component.id)}`, search } as never),
    },
    ...(id ? [{ keys: 'Escape', does: 'Close', run: close }] : []),
  ]);
  if (!spec)
    return (
      <Page title="Not found">
        <Empty padded title="This screen does not exist">
          The address may be from another version of the console. Use the navigation, or Ctrl K.
        </Empty>
      </Page>
    );
  const matrix = spec.matrix?.(query.data ?? []);
  const counts = countBy(all.map((r) => r.component.status));
  return (
    <Page title={spec.title} beside={<span className="t3">{all.length}</span>}>
      <div className="toolbar">
        <SearchInput label="Search" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        <Segments
          label="Status"
          value={search.status ?? 'all'}
          onChange={(s) => change({ status: s === 'all' ? undefined : s })}
          options={(Object.keys(statusLabels) as (Status | 'all')[]).map((s) => ({
            value: s,
            label:
              s === 'all' ? (
                'All'
              ) : (
                <>
                  <Mark name={s} />
                  {statusLabels[s]}
                </>
              ),
            count: s === 'all' ? all.length : counts[s],
          }))}
        />
      </div>
      <div className={`kind-split ${id ? 'with-panel' : ''}`}>
        <div className="kind-list">
          <Answer query={query} what="the list" padded>
            {() =>
              all.length === 0 ? (
                <Empty padded title="No component of this kind">
                  The inventory names no component of this kind.
                </Empty>
              ) : rows.length === 0 ? (
                <Empty
                  padded
                  title="None matches"
                  action={<Button onClick={() => change({ q: undefined, status: undefined })}>Clear all</Button>}
                >
                  Without the filters there are {all.length}.
                </Empty>
              ) : (
                <>
                  <Table spec={spec} rows={rows} chosen={id} cursor={cursor} path={kind} />
                  {matrix && matrix.rows.length > 0 && <Matrix of={matrix} />}
                </>
              )
            }
          </Answer>
        </div>
        {id && (
          <aside className="panel" aria-label={spec.singular}>
            <Button look="quiet" icon="x" className="panel-close" aria-label="Close" onClick={close} />
            {chosen ? (
              <ComponentPanel
                component={chosen.component}
                actions={
                  kind === 'farms' && (
                    <Link className="btn" to="/rds-servers" search={{ farm: id } as never}>
                      Its servers
                    </Link>
                  )
                }
              >
                {spec.facts && (
                  <dl className="kv">
                    {spec.facts(chosen.item).map(([name, value]) => (
                      <div key={name}>
                        <dt>{name}</dt>
                        <dd>{value}</dd>
                      </div>
                    ))}
                  </dl>
                )}
                {spec.parts(chosen.item).map((p) => (
                  <Parts key={p.title} {...p} lastChanges={chosen.component.parts} />
                ))}
              </ComponentPanel>
            ) : (
              query.data && (
                <Empty padded title={`This ${spec.singular.toLowerCase()} is not there`}>
                  It may have been removed from the inventory.
                </Empty>
              )
            )}
          </aside>
        )}
      </div>
    </Page>
  );
}
