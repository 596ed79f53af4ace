import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { posture, type NotificationRule } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { useAddress } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Word } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { useAccountNames, useRules } from '../data';
import { channelsQuery, notificationRulesQuery } from './data';
import { RuleDialog } from './RuleDialog';
import { choices, draftOfRule, specOfRule } from './rules';

/** What a rule chooses, each part on its own. */
function Choices({ of }: { of: NotificationRule }) {
  const rules = useRules();
  const account = useAccountNames();
  const parts = choices(of, { rule: (id) => rules.get(id)?.name ?? id, account });
  if (parts.length === 0) return <span className="t2">every event</span>;
  return (
    <span className="row tight wrap">
      {parts.map(({ label, values }) => (
        <span key={label} className="tag" title={values.join('\n')}>
          <b>{label}</b>
          <span className="cut">
            {values.slice(0, 3).join(', ')}
            {values.length > 3 ? ` and ${count(values.length - 3)} more` : ''}
          </span>
        </span>
      ))}
    </span>
  );
}

/** Which events go to which channels. */
export function NotificationRules({ onAdd }: { onAdd: () => void }) {
  const { search, change } = useAddress();
  const refused = useRefusal('admin', 'administration');
  const client = useQueryClient();
  const [changing, setChanging] = useState<NotificationRule>();
  const [deleting, setDeleting] = useState<NotificationRule>();
  const query = useQuery(notificationRulesQuery);
  const channels = useQuery(channelsQuery).data ?? [];
  const renew = () => client.invalidateQueries({ queryKey: ['notifications'] });
  const fits = (r: NotificationRule) =>
    (!search.channel || r.channelIds.includes(search.channel)) && r.name.toLowerCase().includes((search.q ?? '').toLowerCase());
  const rows = (query.data ?? []).filter(fits);
  const flip = async (r: NotificationRule) => {
    try {
      await posture.put('/v1/notification-rules/{notification_rule_id}', {
        path: { notification_rule_id: r.id },
        body: { ...specOfRule(draftOfRule(r)), enabled: !r.enabled },
        etag: r.eTag,
      });
    } catch (cause) {
      showToast(failureText(cause));
    }
    await renew();
  };
  return (
    <>
      <div className="toolbar">
        <SearchInput label="Search notification rules" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        <Select
          label="Channel"
          value={search.channel ?? ''}
          onChange={(channel) => change({ channel: channel || undefined })}
          options={[{ value: '', label: 'Every channel' }, ...channels.map((c) => ({ value: c.id, label: c.name }))]}
        />
        <span className="end small t3 wide">
          Findings that are suppressed or muted send nothing.{' '}
          <Link className="inline-link" to="/mute-rules">
            Mute rules
          </Link>
        </span>
      </div>
      <Answer query={query} what="the list of notification rules" padded>
        {(list) =>
          list.length === 0 ? (
            <Empty
              padded
              title="No event is sent"
              action={
                <Button refused={refused} onClick={onAdd}>
                  New rule
                </Button>
              }
            >
              A rule says which events go to which channels.{channels.length === 0 && ' Add a channel first.'}
            </Empty>
          ) : rows.length === 0 ? (
            <Empty
              padded
              title="No notification rule matches"
              action={<Button onClick={() => change({ q: undefined, channel: undefined })}>Clear all</Button>}
            />
          ) : (
            <div className="table-scroll">
              <table className="table notifications">
                <thead>
                  <tr>
                    <th>On</th>
                    <th>Rule</th>
                    <th className="wide">Sends</th>
                    <th>To</th>
                    <th className="wide">Changed</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((r) => (
                    <tr key={r.id}>
                      <td>
                        <button
                          type="button"
                          role="switch"
                          className="toggle"
                          aria-checked={r.enabled}
                          aria-label={`${r.name} is on`}
                          disabled={!!refused}
                          title={refused}
                          onClick={() => void flip(r)}
                        />
                      </td>
                      <th scope="row">
                        <button type="button" className="link" disabled={!!refused} title={refused} onClick={() => setChanging(r)}>
                          {r.name}
                        </button>
                      </th>
                      <td className="wide">
                        <Choices of={r} />
                      </td>
                      <td>
                        {r.channelIds.map((id) => {
                          const c = channels.find((one) => one.id === id);
                          return (
                            <span key={id} className="row tight">
                              <Link to="/notifications/channels" search={{ q: c?.name } as never}>
                                {c?.name ?? id}
                              </Link>
                              {c && !c.enabled && <Word name="off">Off</Word>}
                            </span>
                          );
                        })}
                      </td>
                      <td className="wide t3">
                        <Time at={r.lastUpdateTime} />
                      </td>
                      <td className="num">
                        <span className="row tight row-actions">
                          <Button look="danger" writes aria-label={`Delete ${r.name}`} refused={refused} onClick={() => setDeleting(r)}>
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
      {search.new && !refused && <RuleDialog onClose={() => change({ new: undefined })} />}
      {changing && <RuleDialog key={changing.id} rule={changing} onClose={() => setChanging(undefined)} />}
      {deleting && (
        <Confirm
          title={`Delete ${deleting.name}`}
          action="Delete"
          onClose={() => setDeleting(undefined)}
          run={async () => {
            await posture.delete('/v1/notification-rules/{notification_rule_id}', {
              path: { notification_rule_id: deleting.id },
              etag: deleting.eTag,
            });
            showToast(`${deleting.name} is deleted`);
            await renew();
          }}
        >
          Its events are not sent any more. Messages that wait already are still sent.
        </Confirm>
      )}
    </>
  );
}
