import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { posture, type MuteRule } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { useAccountNames, useRules } from '../data';
import { MuteDialog } from './MuteDialog';
import { draftOfAddress, draftOfScope } from './scope';
import './mutes.css';

type Standing = 'all' | 'active' | 'ended';

/** The scope of a mute rule in words, each part on its own. */
function Scope({ of }: { of: MuteRule['scope'] }) {
  const rules = useRules();
  const accountName = useAccountNames();
  const { rules: ids, accounts, tags, resources } = draftOfScope(of);
  const part = (label: string, values: string[]) =>
    values.length > 0 && (
      <span className="tag" title={values.join('\n')}>
        <b>{label}</b>
        <span className="cut">
          {values.slice(0, 2).join(', ')}
          {values.length > 2 ? ` and ${count(values.length - 2)} more` : ''}
        </span>
      </span>
    );
  return (
    <span className="row tight wrap">
      {part(
        'rule',
        ids.map((id) => rules.get(id)?.name ?? id),
      )}
      {part('account', accounts.map(accountName))}
      {part('tag', tags)}
      {part('resource', resources)}
    </span>
  );
}

/** Ends a mute rule. The toast offers to undo that. */
function useEnd() {
  const client = useQueryClient();
  const renew = () => Promise.all(['mutes', 'findings'].map((key) => client.invalidateQueries({ queryKey: [key] })));
  const replace = async (m: MuteRule, etag: string | undefined, until: string | null) => {
    const body = { name: m.name, reason: m.reason, scope: m.scope, until };
    return (
      (await posture.answer('put', '/v1/mute-rules/{mute_rule_id}', { path: { mute_rule_id: m.id }, body, etag })).headers.get('ETag') ?? ''
    );
  };
  const failed = (cause: unknown) => showToast(failureText(cause));
  return async (m: MuteRule) => {
    try {
      // The end must be in the future by the clock of the server, which the header Date has.
      const { headers } = await posture.answer('get', '/v1/mute-rules/{mute_rule_id}', { path: { mute_rule_id: m.id } });
      const now = new Date(headers.get('Date') ?? Date.now()).getTime();
      const etag = await replace(m, m.eTag, new Date(now + 10_000).toISOString());
      showToast(
        `${m.name} ends within ten seconds; its findings count again then`,
        () =>
          void replace(m, etag, m.until ?? null)
            .then(renew)
            .catch(failed),
      );
      await renew();
      setTimeout(() => void renew(), 11_000); // the server reports no change when the end of a mute rule passes
    } catch (cause) {
      failed(cause);
      await renew();
    }
  };
}

/** The mute rules: which findings they suppress, why, and until when. */
export default function MuteRules() {
  const { search, change } = useAddress();
  const refused = useRefusal('analyst', 'findings', 'organisation');
  const client = useQueryClient();
  const end = useEnd();
  const [changing, setChanging] = useState<MuteRule>();
  const [deleting, setDeleting] = useState<MuteRule>();
  const query = useQuery({ queryKey: ['mutes'], queryFn: async () => (await posture.get('/v1/mute-rules')).results });
  const all = query.data ?? [];
  const standing = (search.status ?? 'all') as Standing;
  const fits = (m: MuteRule) =>
    (standing === 'all' || m.inForce === (standing === 'active')) &&
    `${m.name} ${m.reason} ${m.by}`.toLowerCase().includes((search.q ?? '').toLowerCase());
  const rows = all.filter(fits);
  const add = () => change({ new: 'yes' }, { push: true });
  useKeys([{ keys: 'n', does: 'New mute rule', run: () => !refused && add() }]);
  const active = all.filter((m) => m.inForce).length;
  return (
    <Page
      title="Mute rules"
      beside={query.data && <span className="t3 wide">{count(active)} in force</span>}
      actions={
        <Button look="primary" icon="plus" refused={refused} onClick={add}>
          New mute rule
        </Button>
      }
    >
      <div className="toolbar">
        <SearchInput label="Search mute rules" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        <Segments<Standing>
          label="Status"
          value={standing}
          onChange={(s) => change({ status: s === 'all' ? undefined : s })}
          options={[
            { value: 'all', label: 'All', count: all.length },
            { value: 'active', label: 'In force', count: active },
            { value: 'ended', label: 'Ended', count: all.length - active },
          ]}
        />
        <span className="end small t3 wide">
          A muted finding keeps its status and score, and is not counted as open.{' '}
          <Link className="inline-link" to="/findings" search={{ status: 'suppressed' } as never}>
            Suppressed findings
          </Link>
        </span>
      </div>
      <Answer query={query} what="the list of mute rules" padded>
        {(list) =>
          list.length === 0 ? (
            <Empty
              padded
              title="Nothing is muted"
              action={
                <Button refused={refused} onClick={add}>
                  New mute rule
                </Button>
              }
            >
              A mute rule suppresses the findings in its scope, those that are open and those that are raised later.
            </Empty>
          ) : rows.length === 0 ? (
            <Empty
              padded
              title="No mute rule matches"
              action={<Button onClick={() => change({ q: undefined, status: undefined })}>Clear all</Button>}
            />
          ) : (
            <div className="table-scroll">
              <table className="table mutes">
                <thead>
                  <tr>
                    <th>Status</th>
                    <th>Mute rule</th>
                    <th className="wide">Scope</th>
                    <th className="wide">By</th>
                    <th>Until</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((m) => (
                    <tr key={m.id}>
                      <td>
                        <span className={`word ${m.inForce ? 'c-ok' : 'c-off'}`}>
                          <Mark name={m.inForce ? 'ok' : 'off'} />
                          {m.inForce ? 'In force' : 'Ended'}
                        </span>
                      </td>
                      <th scope="row">
                        <button type="button" className="link" disabled={!!refused} title={refused} onClick={() => setChanging(m)}>
                          {m.name}
                        </button>
                        <span className="small t3 block">{m.reason}</span>
                      </th>
                      <td className="wide">
                        <Scope of={m.scope} />
                      </td>
                      <td className="wide t2">{m.by}</td>
                      <td className="t2">{m.until ? <Time at={m.until} as="date" /> : 'for good'}</td>
                      <td className="num">
                        <span className="row tight mute-actions">
                          {m.inForce && (
                            <Button writes aria-label={`End ${m.name}`} refused={refused} onClick={() => void end(m)}>
                              End
                            </Button>
                          )}
                          <Button look="danger" writes aria-label={`Delete ${m.name}`} refused={refused} onClick={() => setDeleting(m)}>
                            Delete
                          </Button>
                        </span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Answer>
      {search.new && !refused && (
        <MuteDialog
          first={draftOfAddress(search)}
          onClose={() => change({ new: undefined, rule: undefined, account: undefined, tag: undefined, resource: undefined })}
        />
      )}
      {changing && (
        <MuteDialog key={changing.id} rule={changing} first={draftOfScope(changing.scope)} onClose={() => setChanging(undefined)} />
      )}
      {deleting && (
        <Confirm
          title={`Delete ${deleting.name}`}
          action="Delete"
          onClose={() => setDeleting(undefined)}
          run={async () => {
            await posture.delete('/v1/mute-rules/{mute_rule_id}', { path: { mute_rule_id: deleting.id }, etag: deleting.eTag });
            await Promise.all(['mutes', 'findings'].map((key) => client.invalidateQueries({ queryKey: [key] })));
          }}
        >
          Its findings count again at once, unless another mute rule covers them.
        </Confirm>
      )}
    </Page>
  );
}
