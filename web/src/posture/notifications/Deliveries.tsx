import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { posture, type NotificationDelivery } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { choiceOf, useAddress } from '../../frame/address';
import { Button } from '../../parts/Button';
import { Word, type MarkName } from '../../parts/marks';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty } from '../../parts/states';
import { count, plural, sentence } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { channelsQuery, deliveriesQuery } from './data';

type State = NotificationDelivery['state'];
const states: Record<State, { mark: MarkName; label: string }> = {
  Waiting: { mark: 'nothing', label: 'Waiting' },
  Delivered: { mark: 'ok', label: 'Delivered' },
  Dead: { mark: 'error', label: 'Given up' },
};

/** When a message was delivered or given up; until when it is tried if it waits. */
const End = ({ of: d }: { of: NotificationDelivery }) =>
  d.state === 'Waiting' && d.giveUpTime ? (
    <>
      tried until <Time at={d.giveUpTime} as="date" />
    </>
  ) : d.endTime ? (
    <Time at={d.endTime} />
  ) : null;

/** The messages that wait, that were delivered, and that were given up; those can be sent again. */
export function Deliveries() {
  const { search, change } = useAddress();
  const refused = useRefusal('admin', 'administration');
  const client = useQueryClient();
  const [busy, setBusy] = useState<string>();
  const state = choiceOf(states, search.state, undefined);
  const query = useQuery(deliveriesQuery(state, search.channel));
  const dead = useQuery(deliveriesQuery('Dead', search.channel)).data;
  const channels = useQuery(channelsQuery).data ?? [];
  const nameOf = (id: string) => channels.find((c) => c.id === id)?.name ?? id;
  const runRetry = async (key: string, run: () => Promise<string>) => {
    setBusy(key);
    try {
      showToast(await run());
    } catch (cause) {
      showToast(failureText(cause));
    }
    await client.invalidateQueries({ queryKey: ['notifications'] });
    setBusy(undefined);
  };
  const retry = (d: NotificationDelivery) =>
    runRetry(d.id, async () => {
      await posture.post('/v1/notification-deliveries/{delivery_id}/retry', { path: { delivery_id: d.id } });
      return `The message waits to be sent to ${nameOf(d.channelId)} again`;
    });
  const retryAll = (id: string) =>
    runRetry(id, async () => {
      const { retriedCount } = await posture.post('/v1/notification-channels/{channel_id}/retry', { path: { channel_id: id } });
      return `${plural(retriedCount, 'message waits', 'messages wait')} to be sent to ${nameOf(id)} again`;
    });
  return (
    <>
      <div className="toolbar">
        <Segments<State | 'all'>
          label="State"
          value={state ?? 'all'}
          onChange={(s) => change({ state: s === 'all' ? undefined : s })}
          options={[
            { value: 'all', label: 'All' },
            { value: 'Waiting', label: 'Waiting' },
            { value: 'Delivered', label: 'Delivered' },
            { value: 'Dead', label: 'Given up', ...(dead ? { count: dead.totalCount } : {}) },
          ]}
        />
        <Select
          label="Channel"
          value={search.channel ?? ''}
          onChange={(channel) => change({ channel: channel || undefined })}
          options={[{ value: '', label: 'Every channel' }, ...channels.map((c) => ({ value: c.id, label: c.name }))]}
        />
        {search.channel && !!dead?.totalCount && (
          <Button writes refused={refused} disabled={busy !== undefined} onClick={() => void retryAll(search.channel ?? '')}>
            Send all given up again
          </Button>
        )}
        <span className="end small t3 wide">Messages are kept for 14 days after they ended.</span>
      </div>
      <Answer query={query} what="the list of messages" padded>
        {({ results, totalCount }) => {
          if (results.length === 0)
            return state || search.channel ? (
              <Empty
                padded
                title="No message matches"
                action={<Button onClick={() => change({ state: undefined, channel: undefined })}>Clear all</Button>}
              />
            ) : (
              <Empty padded title="No message was sent in the last 14 days">
                A message is made as soon as an event happens that a rule chooses.
              </Empty>
            );
          return (
            <div className="table-scroll">
              <table className="table notifications">
                <thead>
                  <tr>
                    <th>State</th>
                    <th>Message</th>
                    <th className="wide">Channel</th>
                    <th className="wide num">Events</th>
                    <th className="wide num">Attempts</th>
                    <th className="wide">Created</th>
                    <th className="wide">Ended</th>
                    <th>
                      <span className="hide">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {results.map((d) => (
                    <tr key={d.id}>
                      <td>
                        <Word name={states[d.state].mark}>{states[d.state].label}</Word>
                      </td>
                      <th scope="row">
                        {d.title}
                        <span className="narrow small t3 block">to {nameOf(d.channelId)}</span>
                        {d.error && d.state !== 'Delivered' && <span className="small t2 block">{sentence(d.error)}</span>}
                      </th>
                      <td className="wide t2">{nameOf(d.channelId)}</td>
                      <td className="wide num">{count(d.eventCount)}</td>
                      <td className="wide num">{count(d.attempts)}</td>
                      <td className="wide t3">
                        <Time at={d.creationTime} />
                      </td>
                      <td className="wide t3">
                        <End of={d} />
                      </td>
                      <td className="num">
                        <span className="row tight row-actions">
                          {d.state === 'Dead' && (
                            <Button
                              writes
                              aria-label={`Send again: ${d.title}`}
                              refused={refused}
                              disabled={busy !== undefined}
                              onClick={() => void retry(d)}
                            >
                              Send again
                            </Button>
                          )}
                        </span>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {totalCount > results.length && (
                <p className="small t3 region">
                  The newest {count(results.length)} of {count(totalCount)}.
                </p>
              )}
            </div>
          );
        }}
      </Answer>
    </>
  );
}
