import { failureText } from '../../parts/failure';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { posture, type Buckets, type Entity } from '../../api/posture';
import { useState, type ReactNode } from 'react';
import { download } from '../../api/download';
import { listOf, useAddress, type Search } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { Checkbox } from '../../parts/Field';
import { Icon } from '../../parts/Icon';
import { useKeys } from '../../parts/keys';
import { Mark, ProviderMark, providerName, severity } from '../../parts/marks';
import { Menu } from '../../parts/Menu';
import { SearchInput } from '../../parts/SearchInput';
import { Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, shortType, typeName } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { accountsQuery, buckets, schemaQuery, unreadQuery, useAccountNames } from '../data';
import { iconOfType } from '../graph/icons';
import { propertyText } from '../resource/property';
import { exploreOf, filtersOf, withType } from './filters';
import { maxSorted, SortHead, sortsOf } from './SortHead';
import './inventory.css';

function useTree(search: Search) {
  return useQuery({
    queryKey: ['entities', 'tree', filtersOf(search, undefined)],
    placeholderData: keepPreviousData,
    queryFn: () =>
      posture.post('/v1/entities/aggregations-query', {
        body: {
          filters: filtersOf(search, undefined),
          aggregations: {
            provider: {
              fieldName: 'provider',
              aggregationType: 'Terms',
              subAggregations: {
                service: {
                  fieldName: 'service',
                  aggregationType: 'Terms',
                  termsCount: 200,
                  subAggregations: { type: { fieldName: 'entityType', aggregationType: 'Terms', termsCount: 200 } },
                },
              },
            },
          },
        },
      }),
  });
}

type Level = { value: string; count: number; subAggregations?: Record<string, Buckets> };
const below = (level: Level, name: string) => buckets(level.subAggregations?.[name]) as Level[];

function Tree({ search, chosen }: { search: Search; chosen: string | undefined }) {
  const query = useTree(search);
  const unread = new Map(useQuery(unreadQuery()).data?.map((u) => [u.type, u.why]));
  return (
    <nav className="tree" aria-label="Types">
      <Answer query={query} what="the tree">
        {(data) => (
          <>
            {(buckets(data.aggregations.provider) as Level[]).map((p) => (
              <section key={p.value}>
                <h2>
                  <ProviderMark provider={p.value} />
                  <span className="cut">{providerName(p.value)}</span>
                  <span className="end t3 small">{count(p.count)}</span>
                </h2>
                {below(p, 'service')
                  .sort((a, b) => a.value.localeCompare(b.value))
                  .map((s) => (
                    <details key={s.value} open={below(s, 'type').some((t) => t.value === chosen)}>
                      <summary>
                        {s.value}
                        <span className="end t3 small">{count(s.count)}</span>
                      </summary>
                      <ul>
                        {below(s, 'type').map((t) => (
                          <li key={t.value}>
                            <Link
                              to="/inventory"
                              search={withType(search, t.value) as never}
                              aria-current={t.value === chosen ? 'true' : undefined}
                            >
                              {unread.has(t.value) && <Mark name="unknown" label />}
                              <span className="cut">{typeName(t.value)}</span>
                              <span className="end t3 small">{count(t.count)}</span>
                            </Link>
                          </li>
                        ))}
                      </ul>
                    </details>
                  ))}
              </section>
            ))}
            {[...unread].length > 0 && (
              <section>
                <h2>
                  <Mark name="unknown" />
                  Not read
                </h2>
                <ul>
                  {[...unread].slice(0, 20).map(([t, why]) => (
                    <li key={t} className="small t2" title={why}>
                      {shortType(t)}
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </>
        )}
      </Answer>
    </nav>
  );
}

function Rows({ entities, columns, typed }: { entities: Entity[]; columns: string[]; typed: boolean }) {
  const accountName = useAccountNames();
  return entities.map((e) => (
    <tr key={e.entityId}>
      <th scope="row">
        <Link className="row tight" to={`/resource/${encodeURIComponent(e.entityId)}`}>
          <Icon name={iconOfType(typeName(e.entityType))} small />
          <span className="cut">{e.entityName}</span>
        </Link>
      </th>
      {!typed && <td className="wide t2">{shortType(e.entityType)}</td>}
      <td className="t2 nowrap">{accountName(e.cloudAccountId)}</td>
      <td className="wide t2 nowrap">{e.region}</td>
      {columns.map((c) => {
        const p = e.properties.find((x) => x.name === c);
        return (
          <td key={c} className="wide">
            <code className={`cell ${p?.type === 'unknown' ? 'c-unknown' : ''}`} title={p && (p.error ?? propertyText(p))}>
              {p ? propertyText(p) : '–'}
            </code>
          </td>
        );
      })}
      <td className="num">
        {e.findings?.open ? (
          <Link
            className={`word c-${severity('Medium', e.findings.maxRiskScore)}`}
            to={`/resource/${encodeURIComponent(e.entityId)}`}
            title={`Highest risk ${e.findings.maxRiskScore}`}
          >
            {e.findings.open}
            <span className="hide"> open findings</span>
          </Link>
        ) : (
          <span className="t3">–</span>
        )}
      </td>
      <td className="wide roomy t3">
        <Time at={e.lastUpdateTime} />
      </td>
    </tr>
  ));
}

/** The resources: a tree of types with counts, and a table. */
export default function Inventory() {
  const { search, change } = useAddress();
  const type = search.type;
  const filters = filtersOf(search, type);
  const accounts = useQuery(accountsQuery).data ?? [];
  const schema = useQuery(schemaQuery).data?.types.find((t) => t.entityType === type);
  const defaultColumns = (schema?.properties ?? [])
    .filter((p) => !p.list && !/Id$/.test(p.name)) // ids say little and are wide
    .sort((a, b) => b.rules.length - a.rules.length)
    .slice(0, 3)
    .map((p) => p.name);
  // An address without columns shows the default ones, "none" shows none.
  const columns =
    search.columns === undefined
      ? defaultColumns
      : listOf(search.columns).filter((name) => schema?.properties.some((p) => p.name === name));
  const [choosing, setChoosing] = useState(false);
  useKeys([{ keys: 'v', does: 'Columns', run: () => type && setChoosing(true) }]);
  const save = async (format: 'csv' | 'jsonl') => {
    try {
      await download('/v1/entities/export', { filters, format }, `resources.${format}`);
      showToast(`Saved as resources.${format}`);
    } catch (cause) {
      showToast(failureText(cause));
    }
  };
  const sorts = sortsOf(search.sort);
  const query = useInfiniteQuery({
    queryKey: ['entities', 'list', filters, sorts],
    queryFn: ({ pageParam }) =>
      posture.post('/v1/entities/query', {
        body: { filters, sorts, includeFindings: true, paginationInfo: { pageSize: 100, continuationToken: pageParam } },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.continuationToken ?? null,
    placeholderData: keepPreviousData,
  });
  const entities = query.data?.pages.flatMap((p) => p.results) ?? [];
  const total = query.data?.pages[0]?.totalCount ?? 0;
  const head = (by: string, label: ReactNode, className?: string) => (
    <SortHead key={by} by={by} sort={search.sort} off={total > maxSorted} className={className} onSort={(sort) => change({ sort })}>
      {label}
    </SortHead>
  );
  return (
    <Page
      title="Inventory"
      beside={<span className="t3">{count(total)}</span>}
      actions={
        <Menu
          label="Export"
          icon="download"
          text="Export"
          className="wide"
          choices={[
            { label: 'CSV, for spreadsheets', run: () => void save('csv') },
            { label: 'JSON lines, for programs', run: () => void save('jsonl') },
          ]}
        />
      }
    >
      <div className="toolbar">
        <div className="inventory-search">
          <SearchInput
            label="Search resources"
            placeholder="A name, or property.encrypted = false AND tag.env = prod"
            value={search.q ?? ''}
            onChange={(q) => change({ q: q || undefined })}
          />
        </div>
        <Select
          label="Account"
          value={search.account ?? ''}
          onChange={(a) => change({ account: a || undefined })}
          options={[{ value: '', label: 'All accounts' }, ...accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName }))]}
        />
        {type && (
          <span className="chip">
            <span className="k">Type</span>
            <span className="v">{shortType(type)}</span>
            <button type="button" aria-label="Remove Type" onClick={() => change(withType(search, undefined))}>
              <Icon name="x" small />
            </button>
          </span>
        )}
        {type && (
          <Button look="quiet" className="wide" keys="V" onClick={() => setChoosing(true)}>
            Columns
          </Button>
        )}
        <Link className="btn quiet end" to="/explore" search={exploreOf(search, type) as never}>
          Show as query
        </Link>
      </div>
      <div className="inventory">
        <Tree search={search} chosen={type} />
        <Answer query={query} what="the list" padded rows={12}>
          {() =>
            entities.length === 0 ? (
              <Empty
                padded
                title="No resource matches"
                action={
                  <Button onClick={() => change({ ...withType(search, undefined), q: undefined, account: undefined })}>Clear all</Button>
                }
              >
                Each word must begin a word of the name. With an operator the text is a search: property.encrypted = false.
              </Empty>
            ) : (
              <div className="table-scroll">
                <table className="table">
                  <thead>
                    <tr>
                      {head('name', 'Name')}
                      {!type && head('type', 'Type', 'wide')}
                      {head('account', 'Account')}
                      {head('region', 'Region', 'wide')}
                      {columns.map((c) => head(`property.${c}`, <code>{c}</code>, 'wide'))}
                      <th className="num">Findings</th>
                      {head('changed', 'Changed', 'wide roomy')}
                    </tr>
                  </thead>
                  <tbody>
                    {query.data?.pages.map((p, i) => (
                      <Rows key={i} entities={p.results} columns={columns} typed={!!type} />
                    ))}
                  </tbody>
                </table>
                {query.hasNextPage && (
                  <div className="region">
                    <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
                      Show more of {count(total)}
                    </Button>
                  </div>
                )}
              </div>
            )
          }
        </Answer>
      </div>
      {choosing && schema && (
        <Dialog title={`Columns of ${shortType(schema.entityType)}`} onClose={() => setChoosing(false)}>
          <div className="column-choices">
            {schema.properties.map((p) => (
              <Checkbox
                key={p.name}
                label={
                  <>
                    <code>{p.name}</code> <span className="small t3">{p.description}</span>
                  </>
                }
                checked={columns.includes(p.name)}
                onChange={() =>
                  change({
                    columns: (columns.includes(p.name) ? columns.filter((c) => c !== p.name) : [...columns, p.name]).join(',') || 'none',
                  })
                }
              />
            ))}
          </div>
          <div className="dialog-foot">
            <Button onClick={() => change({ columns: undefined })}>Default columns</Button>
            <Button look="primary" onClick={() => setChoosing(false)}>
              Done
            </Button>
          </div>
        </Dialog>
      )}
    </Page>
  );
}
