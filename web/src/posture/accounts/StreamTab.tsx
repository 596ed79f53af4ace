import { failureText } from '../../parts/failure';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Account, type EventStream } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { Button } from '../../parts/Button';
import { Mark } from '../../parts/marks';
import { Failure, Skeleton } from '../../parts/states';
import { count } from '../../parts/text';
import { Time } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { ScriptBox, Secret } from './ScriptBox';

function Facts({ stream: s }: { stream: EventStream }) {
  const ok = s.status.value === 'connected';
  return (
    <dl className="kv narrow-kv">
      <div>
        <dt>Status</dt>
        <dd>
          <span className={`word c-${ok ? 'ok' : 'none'}`}>
            <Mark name={ok ? 'ok' : 'none'} />
            {s.status.value}
          </span>
        </dd>
      </div>
      <div>
        <dt>Last event</dt>
        <dd>
          <Time at={s.lastEventTime} />
        </dd>
      </div>
      <div>
        <dt>Waiting to be read</dt>
        <dd>{count(s.pendingCount)}</dd>
      </div>
      <div>
        <dt>Accepted messages</dt>
        <dd>{count(s.acceptedCount)}</dd>
      </div>
      <div>
        <dt>Duplicate messages</dt>
        <dd>{count(s.duplicateCount)}</dd>
      </div>
      <div>
        <dt>Messages about resources that are not read</dt>
        <dd>{count(s.unmappedCount)}</dd>
      </div>
      <div>
        <dt>Endpoint</dt>
        <dd>
          <code>{s.endpoint}</code>
        </dd>
      </div>
      {s.topicName && (
        <div>
          <dt>Topic</dt>
          <dd>
            <code>{s.topicName}</code>
          </dd>
        </div>
      )}
    </dl>
  );
}

/** The event stream of an account: its state, and how it is set up. */
export function StreamTab({ account }: { account: Account }) {
  const id = account.cloudAccountId;
  const path = { cloud_account_id: id };
  const refused = useRefusal('admin', 'accounts');
  const client = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const query = useQuery({
    queryKey: ['stream', id],
    queryFn: () => posture.get('/v1/cloud-accounts/{cloud_account_id}/event-stream', { path }),
    refetchInterval: 5000,
    retry: false,
  });
  const run = async (what: () => Promise<EventStream>) => {
    try {
      const stream = await what();
      setSecret(stream.secret); // undefined after close, which hides the secret of the closed stream
      await client.invalidateQueries({ queryKey: ['stream', id] });
    } catch (cause) {
      showToast(failureText(cause));
    }
  };
  const openOrChangeSecret = () => run(() => posture.post('/v1/cloud-accounts/{cloud_account_id}/event-stream', { path }));
  const close = () => run(() => posture.delete('/v1/cloud-accounts/{cloud_account_id}/event-stream', { path }));
  const missing = query.error instanceof ApiError && query.error.status === 404;
  const stream = missing ? undefined : query.data; // after an error, data is still the earlier answer
  return (
    <section className="region stack">
      {query.isPending && <Skeleton />}
      {query.error && !missing && <Failure error={query.error} what="the stream" onRetry={() => void query.refetch()} />}
      {missing && (
        <p className="t2">This account has no event stream: changes show with the next full read. The script below sets one up.</p>
      )}
      {stream && <Facts stream={stream} />}
      {secret && <Secret label="Secret of the stream" value={secret} />}
      <div className="row">
        <Button writes refused={refused} onClick={() => void openOrChangeSecret()}>
          {stream ? 'New secret' : 'Open by hand'}
        </Button>
        {stream && (
          <Button look="danger" writes refused={refused} onClick={() => void close()}>
            Close the stream
          </Button>
        )}
      </div>
      <ScriptBox provider={account.provider} script="setup.sh" accounts={[id]} title="Set up by script" undo="teardown.sh" />
    </section>
  );
}
