import { failureText } from '../../parts/failure';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useRefusal } from '../../api/session';
import { useAddress, type Search } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { copyText } from '../../parts/Copy';
import { focusSoon, useKeys } from '../../parts/keys';
import { Menu } from '../../parts/Menu';
import { Answer, Empty } from '../../parts/states';
import { count, plural } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { useMedia } from '../../parts/useMedia';
import { isDeep } from '../pulse';
import { Drawer } from './Drawer';
import { exportFindings, formats, maxExportedIds } from './export';
import { Facets } from './Facets';
import { FilterBar, FilterChip, useFilterLabels } from './FilterBar';
import { activeNames, cleared, groupOf, stateOf } from './filters';
import { FindingList } from './FindingList';
import { GroupedList } from './GroupedList';
import { SuppressDialog } from './SuppressDialog';
import { allIds, useFindings, useViewCounts } from './useFindings';
import { useSuppress } from './useSuppress';
import { Views } from './Views';
import './findings.css';

function NoMatch({ search, change }: { search: Search; change: (patch: Search) => void }) {
  const { label, value } = useFilterLabels();
  const active = activeNames(search);
  const last = active.at(-1);
  const without = useFindings(last ? { ...search, [last]: undefined } : search).total;
  if (!last)
    return (
      <Empty padded title={stateOf(search) === 'open' ? 'Nothing is open' : 'Nothing is here'}>
        {stateOf(search) === 'open' ? 'No rule finds a violation in what was read.' : 'No finding is in this state.'}
      </Empty>
    );
  return (
    <div className="state padded">
      <h2>No finding matches</h2>
      <div className="row wrap">
        {active.map((n) => (
          <FilterChip key={n} label={label(n)} value={value(n, search[n] ?? '')} onRemove={() => change({ [n]: undefined })} />
        ))}
      </div>
      {without !== undefined && (
        <p>
          Without {label(last)} there are {count(without)}.
        </p>
      )}
      <div className="row">
        <Button onClick={() => change({ [last]: undefined })}>Remove {label(last)}</Button>
        <Button look="quiet" onClick={() => change(cleared(search))}>
          Clear all
        </Button>
      </div>
    </div>
  );
}

const rowOf = (id: string) => `[data-finding="${CSS.escape(id)}"]`;

/** The list of findings with its filters and views, and a drawer with the open finding. */
export default function Findings() {
  const { search, change } = useAddress();
  const { query, findings, total } = useFindings(search);
  const [cursor, setCursor] = useState(-1);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const [suppressing, setSuppressing] = useState<string[]>();
  const refused = useRefusal('analyst', 'findings');
  const { release } = useSuppress();
  const client = useQueryClient();
  const grouping = groupOf(search);
  const state = stateOf(search);
  const all = useViewCounts()[state];
  const openIndex = findings.findIndex((f) => f.id === search.f);
  const at = search.f ? openIndex : cursor;
  const phone = useMedia('(max-width: 640px)');
  const compact = !!search.f || phone;

  const close = () => {
    const id = search.f ?? '';
    setCursor(openIndex);
    change({ f: undefined });
    focusSoon(rowOf(id));
  };
  const move = (by: number) => {
    const next = Math.max(0, Math.min(at + by, findings.length - 1));
    setCursor(next);
    if (search.f) change({ f: findings[next]?.id });
    else focusSoon(rowOf(findings[next]?.id ?? ''));
  };
  const toggle = useCallback(
    (id: string) => setSelected((before) => new Set(before.has(id) ? [...before].filter((v) => v !== id) : [...before, id])),
    [],
  );
  const more = useCallback(() => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  }, [query]);
  const suppress = (ids: string[]) => {
    if (ids.length && !refused) setSuppressing(ids);
  };
  useKeys([
    { keys: 'j', does: 'Next finding', run: () => move(1) },
    { keys: 'k', does: 'Previous finding', run: () => move(-1) },
    { keys: 'Enter', does: 'Open the finding', run: () => change({ f: findings[at]?.id ?? search.f }) },
    {
      keys: 'x',
      does: 'Select the finding',
      run: () => {
        const f = findings[at];
        if (f) toggle(f.id);
      },
    },
    { keys: 's', does: 'Suppress', run: () => suppress(selected.size ? [...selected] : findings[at] ? [findings[at].id] : []) },
    { keys: 'Shift+f', does: 'Clear the filters', run: () => change(cleared(search)) },
    { keys: 'e', does: 'Export', run: () => void exportFindings(search) },
  ]);
  const ids = [...selected];
  const everyLoaded = findings.length > 0 && findings.every((f) => selected.has(f.id));
  const selectAll = async () => {
    if (everyLoaded) return setSelected(new Set());
    try {
      setSelected(new Set(await allIds(search)));
    } catch (cause) {
      showToast(failureText(cause));
    }
  };
  return (
    <Page
      title="Findings"
      fixed
      actions={
        <Menu
          label="Export"
          icon="download"
          text="Export"
          className="wide"
          choices={formats.map(({ format, label }) => ({ label, run: () => void exportFindings(search, format) }))}
        />
      }
    >
      <div className={`findings-top ${search.f ? 'beside' : ''}`}>
        <Views search={search} />
        <FilterBar search={search} change={change} />
      </div>
      <div className={`findings ${search.f ? 'with-drawer' : ''}`}>
        <Facets search={search} change={change} />
        <div className="finding-list">
          <div className="list-head">
            {grouping === 'none' && (
              <input
                type="checkbox"
                aria-label="Select all findings of this list"
                checked={everyLoaded}
                onChange={() => void selectAll()}
              />
            )}
            {ids.length > 0 ? (
              <>
                <b>{plural(ids.length, 'finding')} selected</b>
                <Button writes refused={refused} onClick={() => suppress(ids)}>
                  Suppress
                </Button>
                {stateOf(search) === 'suppressed' && (
                  <Button writes refused={refused} onClick={() => void release(ids).then(() => setSelected(new Set()))}>
                    Release
                  </Button>
                )}
                <Button
                  icon="download"
                  disabled={ids.length > maxExportedIds}
                  title={ids.length > maxExportedIds ? `At most ${count(maxExportedIds)} at a time; export the list instead` : undefined}
                  onClick={() => void exportFindings(search, 'csv', ids)}
                >
                  Export
                </Button>
                <Button onClick={() => void copyText(ids.join('\n'), 'Ids copied')}>Copy ids</Button>
                <Button look="quiet" onClick={() => setSelected(new Set())}>
                  Clear
                </Button>
              </>
            ) : (
              <span aria-live="polite">
                <b>{total === undefined ? ' ' : plural(total, 'finding')}</b>
                {total !== undefined && all !== undefined && total < all && (
                  <span className="t3">
                    {' '}
                    of {count(all)} {state}
                  </span>
                )}
              </span>
            )}
            {query.isStale && isDeep(query.data) && (
              <button type="button" className="link" onClick={() => void client.resetQueries({ queryKey: ['findings', 'list'] })}>
                Changed meanwhile: read again
              </button>
            )}
            <span className="small t3 end wide">
              <kbd>J</kbd> <kbd>K</kbd> move <kbd>X</kbd> select <kbd>S</kbd> suppress
            </span>
          </div>
          {grouping !== 'none' ? (
            <GroupedList search={search} grouping={grouping} compact={compact} selected={selected} onSelect={toggle} />
          ) : (
            <Answer query={query} what="the list" padded rows={12}>
              {() =>
                total === 0 ? (
                  <NoMatch search={search} change={change} />
                ) : (
                  <FindingList
                    findings={findings}
                    total={total ?? 0}
                    compact={compact}
                    search={search}
                    cursor={at}
                    selected={selected}
                    onSelect={toggle}
                    onEnd={more}
                  />
                )
              }
            </Answer>
          )}
        </div>
        {search.f && (
          <Drawer
            id={search.f}
            inList={openIndex >= 0 || grouping !== 'none'}
            onClose={close}
            onMove={move}
            onSuppress={(id) => suppress([id])}
          />
        )}
      </div>
      {suppressing && (
        <SuppressDialog
          ids={suppressing}
          onDone={() => setSelected((before) => new Set([...before].filter((id) => !suppressing.includes(id))))}
          onClose={() => setSuppressing(undefined)}
        />
      )}
    </Page>
  );
}
