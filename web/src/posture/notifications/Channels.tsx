import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { posture, type NotificationChannel } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { useAddress } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Confirm } from '../../parts/Confirm';
import { Mark, Word } from '../../parts/marks';
import { SearchInput } from '../../parts/SearchInput';
import { Segments } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, plural, sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { ChannelDialog } from './ChannelDialog';
import { receivers, standingOf, standings, target, type Standing } from './channels';
import { channelsQuery, notificationRulesQuery } from './data';

interface Tested {
  at: number;
  /** Why the receiver did not accept the test message. */
  error?: string | undefined;
}

/** Sends test messages, and keeps their results while the screen is open. */
function useTests() {
  const [tests, setTests] = useState<Record<string, Tested | 'running'>>({});
  const run = async (c: NotificationChannel) => {
    const end = (error?: string) => setTests((all) => ({ ...all, [c.id]: { at: Date.now(), error } }));
    setTests((all) => ({ ...all, [c.id]: 'running' }));
    try {
      const { delivered, error } = await posture.post('/v1/notification-channels/{channel_id}/test', { path: { channel_id: c.id } });
      end(delivered ? undefined : (error ?? 'It was not accepted.'));
    } catch (cause) {
      end(failureText(cause));
    }
  };
  return { tests, run };
}

function TestResult({ of }: { of: Tested | 'running' | undefined }) {
  return (
    <span role="status" className="small block test-result">
      {of === 'running' ? (
        <span className="t3">Sending a test message</span>
      ) : of?.error ? (
        <span className="word c-error">
          <Mark name="error" />
          <span>Test failed: {sentence(of.error)}</span>
        </span>
      ) : (
        of && (
          <span className="word c-ok">
            <Mark name="ok" />
            The receiver accepted the test <Time at={of.at} as="clock" />
          </span>
        )
      )}
    </span>
  );
}

/** The receivers of notifications: whether they accept messages, and which rules send to them. */
export function Channels({ onAdd }: { onAdd: () => void }) {
  const { search, change } = useAddress();
  const refused = useRefusal('admin', 'administration');
  const client = useQueryClient();
  const { tests, run } = useTests();
  const [changing, setChanging] = useState<NotificationChannel>();
  const [deleting, setDeleting] = useState<NotificationChannel>();
  const query = useQuery({ ...channelsQuery, refetchInterval: 10_000 });
  const rules = useQuery(notificationRulesQuery).data ?? [];
  const renew = () => client.invalidateQueries({ queryKey: ['notifications'] });
  const all = (query.data ?? []).map((channel) => ({
    channel,
    standing: standingOf(channel),
    rules: rules.filter((r) => r.channelIds.includes(channel.id)),
  }));
  const chosen = (search.status ?? 'all') as Standing | 'all';
  const rows = all.filter(
    ({ channel: c, standing }) =>
      (chosen === 'all' || chosen === standing) &&
      `${c.name} ${receivers[c.type].label} ${target(c)}`.toLowerCase().includes((search.q ?? '').toLowerCase()),
  );
  const retry = async (c: NotificationChannel) => {
    try {
      const { retriedCount } = await posture.post('/v1/notification-channels/{channel_id}/retry', { path: { channel_id: c.id } });
      showToast(`${plural(retriedCount, 'message waits', 'messages wait')} to be sent to ${c.name} again`);
    } catch (cause) {
      showToast(failureText(cause));
    }
    await renew();
  };
  const users = deleting && rules.filter((r) => r.channelIds.includes(deleting.id));
  return (
    <>
      <div className="toolbar">
        <SearchInput label="Search channels" value={search.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        <Segments<Standing | 'all'>
          label="Status"
          value={chosen}
          onChange={(s) => change({ status: s === 'all' ? undefined : s })}
          options={[
            { value: 'all', label: 'All', count: all.length },
            ...(Object.keys(standings) as Standing[]).map((s) => ({
              value: s,
              label: standings[s].label,
              count: all.filter((c) => c.standing === s).length,
            })),
          ]}
        />
        <span className="end small t3 wide">Secrets are stored encrypted and never shown.</span>
      </div>
      <Answer query={query} what="the list of channels" padded>
        {(list) =>
          list.length === 0 ? (
            <Empty
              padded
              title="No channels yet"
              action={
                <Button refused={refused} onClick={onAdd}>
                  New channel
                </Button>
              }
            >
              A channel is one receiver: a webhook, a Slack channel, a mailbox. Rules say which events it gets.
            </Empty>
          ) : rows.length === 0 ? (
            <Empty
              padded
              title="No channel matches"
              action={<Button onClick={() => change({ q: undefined, status: undefined })}>Clear all</Button>}
            />
          ) : (
            <div className="table-scroll">
              <table className="table notifications">
                <thead>
                  <tr>
                    <th>Status</th>
                    <th>Channel</th>
                    <th className="wide">Type</th>
                    <th className="wide num">Rules</th>
                    <th className="wide num">Given up</th>
                    <th className="wide num">A minute</th>
                    <th className="wide">Changed</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ channel: c, standing, rules: by }) => (
                    <tr key={c.id}>
                      <td>
                        <Word name={standings[standing].mark}>{standings[standing].label}</Word>
                        {c.consecutiveFailures > 0 && (
                          <span className="small t3 block">
                            {plural(c.consecutiveFailures, 'attempt')} in a row
                            {c.nextAttemptTime && (
                              <>
                                , next <Time at={c.nextAttemptTime} />
                              </>
                            )}
                          </span>
                        )}
                      </td>
                      <th scope="row">
                        <button type="button" className="link" disabled={!!refused} title={refused} onClick={() => setChanging(c)}>
                          {c.name}
                        </button>
                        {target(c) && <span className="small t3 block">{target(c)}</span>}
                        <TestResult of={tests[c.id]} />
                      </th>
                      <td className="wide t2">{receivers[c.type].label}</td>
                      <td className="wide num">
                        {by.length > 0 ? (
                          <Link
                            to="/notifications/rules"
                            search={{ channel: c.id } as never}
                            aria-label={`${plural(by.length, 'rule')} of ${c.name}`}
                          >
                            {count(by.length)}
                          </Link>
                        ) : (
                          <span className="t3">none</span>
                        )}
                      </td>
                      <td className="wide num">
                        {c.deadCount > 0 ? (
                          <Link
                            to="/notifications/deliveries"
                            search={{ state: 'Dead', channel: c.id } as never}
                            aria-label={`${plural(c.deadCount, 'message')} given up of ${c.name}`}
                          >
                            {count(c.deadCount)}
                          </Link>
                        ) : (
                          <span className="t3">0</span>
                        )}
                      </td>
                      <td className="wide num t2">{count(c.perMinute)}</td>
                      <td className="wide t3">
                        <Time at={c.lastUpdateTime} />
                      </td>
                      <td className="num">
                        <span className="row tight row-actions">
                          {c.deadCount > 0 && (
                            <Button writes aria-label={`Send again to ${c.name}`} refused={refused} onClick={() => void retry(c)}>
                              Send again
                            </Button>
                          )}
                          <Button
                            writes
                            aria-label={`Test ${c.name}`}
                            refused={refused}
                            disabled={tests[c.id] === 'running'}
                            onClick={() => void run(c)}
                          >
                            Test
                          </Button>
                          <Button look="danger" writes aria-label={`Delete ${c.name}`} refused={refused} onClick={() => setDeleting(c)}>
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
      {search.new && !refused && <ChannelDialog onClose={() => change({ new: undefined })} />}
      {changing && <ChannelDialog key={changing.id} channel={changing} onClose={() => setChanging(undefined)} />}
      {deleting && (
        <Confirm
          title={`Delete ${deleting.name}`}
          action="Delete"
          onClose={() => setDeleting(undefined)}
          run={async () => {
            await posture.delete('/v1/notification-channels/{channel_id}', { path: { channel_id: deleting.id }, etag: deleting.eTag });
            showToast(`${deleting.name} is deleted`);
            await renew();
          }}
        >
          {users && users.length > 0
            ? `${users.map((r) => r.name).join(', ')} ${users.length === 1 ? 'sends' : 'send'} to it. Take the channel out of ${users.length === 1 ? 'this rule' : 'these rules'} first.`
            : 'Messages that wait for it are dropped.'}
        </Confirm>
      )}
    </>
  );
}
