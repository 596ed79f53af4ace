import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type View } from '../../api/posture';
import { formatSearch, parseSearch, type Search } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Dialog } from '../../parts/Dialog';
import { Checkbox, TextField } from '../../parts/Field';
import { Icon } from '../../parts/Icon';
import { count, sentence } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { useSubmit } from '../../parts/useSubmit';
import { activeNames, stateOf, states, type State } from './filters';
import { useViewCounts } from './useFindings';

const viewsQuery = {
  queryKey: ['views'],
  queryFn: async () => (await posture.get('/v1/views')).results.filter((v) => v.screen === 'findings'),
  staleTime: 60_000,
};

/** The query string that a view keeps: that of the address, without the open finding. */
const queryOf = (search: Search) => formatSearch({ ...search, f: undefined }).slice(1);

function SaveDialog({ search, onClose }: { search: Search; onClose: () => void }) {
  const client = useQueryClient();
  const [shared, setShared] = useState(false);
  const [error, setError] = useState<string>();
  const { submit, busy } = useSubmit(async (form) => {
    const name = String(new FormData(form).get('name')).trim();
    try {
      await posture.post('/v1/views', { body: { name, screen: 'findings', query: queryOf(search), shared } });
      await client.invalidateQueries({ queryKey: viewsQuery.queryKey });
      showToast(`The view ${name} is kept`);
      onClose();
    } catch (cause) {
      setError(cause instanceof ApiError ? (cause.field('name') ?? sentence(cause.message)) : failureText(cause));
    }
  });
  return (
    <Dialog title="Keep this view" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <TextField label="Name" name="name" required autoFocus maxLength={100} error={error} hint="Filters, order and grouping are kept." />
        <Checkbox label="Everybody in the organisation sees it" checked={shared} onChange={(e) => setShared(e.target.checked)} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" writes disabled={busy}>
            Keep
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The views of the list: fixed ones, and those that people kept. */
export function Views({ search }: { search: Search }) {
  const counts = useViewCounts();
  const client = useQueryClient();
  const kept = useQuery(viewsQuery).data ?? [];
  const [saving, setSaving] = useState(false);
  const [removing, setRemoving] = useState<View>();
  const now = queryOf(search);
  const own = kept.find((v) => v.query === now);
  const current = own ? undefined : search.since ? 'today' : search.risk ? 'critical' : stateOf(search);
  const tab = (name: string, label: string, to: Search, title?: string) => (
    <Link
      key={name}
      to="/findings"
      search={to as never}
      title={title}
      activeOptions={{ exact: true }} // else Open, which has no search parameters, is always marked active
      aria-current={name === current ? 'true' : undefined}
    >
      {label}
      <span className="n">{counts[name] === undefined ? '' : count(counts[name])}</span>
    </Link>
  );
  const [first, ...rest] = Object.keys(states) as State[];
  return (
    <nav className="tabs" aria-label="Views">
      {tab(first ?? 'open', 'Open', {})}
      {tab(
        'today',
        'New today',
        { since: 'today', sort: '-new' },
        'Open findings that were raised since 00:00 UTC, for the first time or again',
      )}
      {tab('critical', 'Critical risk', { risk: '90' })}
      {rest.map((s) => tab(s, states[s].label, { status: s }))}
      {kept.map((v) => (
        <span key={v.id} className="tab-own">
          <Link
            to="/findings"
            search={parseSearch(v.query) as never}
            activeOptions={{ exact: true }}
            aria-current={v === own ? 'true' : undefined}
            title={v.shared ? 'Everybody sees this view' : 'Only you see this view'}
          >
            {v.name}
          </Link>
          {v === own && v.own && (
            <button type="button" className="link t3" aria-label={`Remove the view ${v.name}`} onClick={() => setRemoving(v)}>
              <Icon name="x" small />
            </button>
          )}
        </span>
      ))}
      {!own && (activeNames(search).length > 0 || search.sort || search.group) && (
        <button type="button" className="link small" onClick={() => setSaving(true)}>
          Keep view
        </button>
      )}
      {saving && <SaveDialog search={search} onClose={() => setSaving(false)} />}
      {removing && (
        <Confirm
          title={`Remove the view ${removing.name}`}
          action="Remove"
          onClose={() => setRemoving(undefined)}
          run={() =>
            posture
              .delete('/v1/views/{view_id}', { path: { view_id: removing.id } })
              .then(() => client.invalidateQueries({ queryKey: viewsQuery.queryKey }))
          }
        >
          {removing.shared ? 'It disappears for everyone in the organisation.' : 'Its filters can be set again by hand.'}
        </Confirm>
      )}
    </nav>
  );
}
