import type { Run } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { StackBar } from '../../parts/Bars';
import { Button } from '../../parts/Button';
import { Mark } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { count, plural, sentence, shortType } from '../../parts/text';
import { span, Time } from '../../parts/time';
import { RunWord } from './RunSquares';
import { useCollect, useRun } from './useRun';

export function Progress({ run }: { run: Run }) {
  const { done, total, entities } = run.progress;
  return (
    <div className="stack">
      <StackBar
        tall
        total={Math.max(total, 1)}
        parts={[{ name: run.status === 'Started' ? 'accent' : 'ok', value: done }]}
        label={`${done} of ${total} units are read`}
      />
      <span className="small t2">
        {count(done)} of {count(total)} units, {plural(entities, 'entity', 'entities')}
      </span>
    </div>
  );
}

/** The name of a missing permission in an error: of AWS, of Google Cloud or of Azure. */
const permission = /\b[a-z][a-z0-9-]*:[A-Z][A-Za-z]+|\b[a-zA-Z]+\.[a-zA-Z.]+\.(?:list|get)\b|Microsoft\.[A-Za-z./]+\b/;

function Problems({ run, provider }: { run: Run; provider: string }) {
  const bad = Object.entries(run.collectorStatus).filter(([, c]) => c.status !== 'Success');
  const good = Object.entries(run.collectorStatus).length - bad.length;
  const off = Object.entries(run.collectorStatus).filter(([, c]) => c.notEnabled || c.notOffered || c.gone);
  return (
    <>
      {bad.length > 0 && (
        <ul className="list problems">
          {bad.map(([type, c]) => {
            const messages = c.errors ?? [c.message ?? 'It is not known why.'];
            const missing = messages.map((m) => permission.exec(m)?.[0]).find(Boolean);
            return (
              <li key={type}>
                <Mark name="unknown" label />
                <div className="grow">
                  <p className="strong">
                    {shortType(type)} <span className="t3">{c.status === 'Timeout' ? 'timed out' : 'not read'}</span>
                  </p>
                  {messages.slice(0, 3).map((m) => (
                    <p key={m} className="small t2">
                      {sentence(m)}
                    </p>
                  ))}
                  {missing && (
                    <p className="small">
                      Permission <code>{missing}</code> is missing.{' '}
                      <a className="link" href={`/scripts/${provider}/link.sh`}>
                        Script that grants it
                      </a>
                    </p>
                  )}
                </div>
              </li>
            );
          })}
        </ul>
      )}
      <p className="t2 row tight">
        <Mark name="ok" />
        {plural(good, 'type')} read completely
      </p>
      {off.length > 0 && (
        <details>
          <summary className="t2 small">
            {plural(off.length, 'type')} not enabled or not offered in some regions, or with resources deleted meanwhile
          </summary>
          <ul className="list">
            {off.map(([type, c]) => (
              <li key={type} className="small t2">
                <span className="grow">{shortType(type)}</span>
                <span>
                  {[
                    c.notEnabled && `not enabled: ${c.notEnabled.join(', ')}`,
                    c.notOffered && `not offered: ${c.notOffered.join(', ')}`,
                    c.gone && `deleted while it was read: ${c.gone}`,
                  ]
                    .filter(Boolean)
                    .join('; ')}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** One run: how far it is, what it read and what it could not read. */
export function RunDetail({ cloudAccountId, collectionId }: { cloudAccountId: string; collectionId: string }) {
  const query = useRun(cloudAccountId, collectionId);
  const refused = useRefusal('analyst', 'accounts');
  const { stop } = useCollect();
  return (
    <Answer query={query} what="the run">
      {(run) => (
        <div className="stack">
          <div className="row">
            <RunWord run={run} />
            <span className="t3 small">
              <Time at={run.startTime} as="date" />
              {run.endTime && `, took ${span(new Date(run.endTime).getTime() - new Date(run.startTime).getTime())}`}
            </span>
            {run.status === 'Started' && (
              <Button className="end" writes refused={refused} onClick={() => void stop(cloudAccountId, collectionId)}>
                Stop
              </Button>
            )}
          </div>
          <Progress run={run} />
          {run.reason && <p className="t2">{sentence(run.reason)}</p>}
          <Problems run={run} provider={run.provider} />
        </div>
      )}
    </Answer>
  );
}
