import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { ApiError } from '../api/error';
import { Button } from './Button';
import { CopyButton } from './Copy';
import { Mark, type MarkName } from './marks';
import { sentence } from './text';

/** Rows without content, shown only when the answer takes longer than 200 ms. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  const [visible, setVisible] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {visible &&
        Array.from({ length: rows }, (_, i) => (
          <div key={i}>
            <span />
            <span />
            <span />
          </div>
        ))}
    </div>
  );
}

/** Shown instead of an empty list: what that means, and the next step. */
export function Empty({ title, children, action, padded }: { title: string; children?: ReactNode; action?: ReactNode; padded?: boolean }) {
  return (
    <div className={`state ${padded ? 'padded' : ''}`}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action && <div className="row">{action}</div>}
    </div>
  );
}

interface Explanation {
  mark: MarkName;
  title: string;
  text: string;
}

function explain(error: unknown, what: string): Explanation {
  const status = error instanceof ApiError ? error.status : -1;
  const message = error instanceof Error ? sentence(error.message) : 'It is not known why.';
  if (status === 0)
    return {
      mark: 'unknown',
      title: `${sentence(what)} could not be read`,
      text: 'The server cannot be reached. The console retries automatically.',
    };
  if (status === 401) return { mark: 'unknown', title: 'You are logged out', text: 'Log in to see this.' };
  if (status === 403)
    return {
      mark: 'off',
      title: `${sentence(what)} is not shown to your role`,
      text: `${message}. An admin of this organisation can change that.`.replace('..', '.'),
    };
  if (status === 404) return { mark: 'unknown', title: `${sentence(what)} is not there`, text: message };
  if (status === 429 || status === 503)
    return { mark: 'warn', title: `${sentence(what)} could not be read yet`, text: `The server is busy (${status}).` };
  if (status >= 400 && status < 500) return { mark: 'error', title: `${sentence(what)} could not be read`, text: message };
  return {
    mark: 'error',
    title: `${sentence(what)} could not be read`,
    text: status > 0 ? `The server failed (${status}). Nothing was changed.` : 'The console could not process the answer of the server.',
  };
}

/** Counts down to a retry, and again to the next one if that fails while this stays in place. */
function Countdown({ seconds, onEnd }: { seconds: number; onEnd: () => void }) {
  const [left, setLeft] = useState(seconds);
  const end = useEffectEvent(onEnd); // onEnd can change at each render, such as at a keystroke; that must not restart the running second
  useEffect(() => {
    if (left <= 0) {
      end();
      setLeft(seconds);
      return;
    }
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left, seconds]);
  return <span className="small t3">next try in {Math.max(left, 0)} s</span>;
}

/** Says why something could not be shown, and what to do. */
export function Failure({ error, what, onRetry, padded }: { error: unknown; what: string; onRetry?: () => void; padded?: boolean }) {
  const { mark, title, text } = explain(error, what);
  const api = error instanceof ApiError ? error : undefined;
  return (
    <div className={`state ${padded ? 'padded' : ''}`} role="alert">
      <h2>
        <Mark name={mark} /> {title}
      </h2>
      <p>{text}</p>
      {api?.requestId && (
        <span className="row small t3">
          Request <code>{api.requestId}</code> <CopyButton text={api.requestId} label="Copy request id" />
        </span>
      )}
      {onRetry && (
        <div className="row">
          <Button onClick={onRetry}>Try again</Button>
          {api?.retryAfter && <Countdown seconds={api.retryAfter} onEnd={onRetry} />}
        </div>
      )}
    </div>
  );
}

interface AnswerProps<T> {
  query: UseQueryResult<T>;
  /** What the region shows, as the subject of a sentence: "the trend". */
  what: string;
  rows?: number;
  padded?: boolean;
  children: (data: T) => ReactNode;
}

/** Shows the data of one query. Old data stays while the query runs again. */
export function Answer<T>({ query, what, rows, padded, children }: AnswerProps<T>) {
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    const error = query.error ?? query.failureReason; // the reason is set after a failed attempt, before the next
    if (error) return <Failure error={error} what={what} onRetry={retry} padded={padded ?? false} />;
    return (
      <div className={padded ? 'region' : ''}>
        <Skeleton {...(rows ? { rows } : {})} />
      </div>
    );
  }
  return (
    <>
      {query.isError && !(query.error instanceof ApiError && query.error.status === 0) && (
        <div className="note warn">
          <Mark name="warn" />
          <span className="grow">
            <b>{sentence(what)} could not be read again.</b> {sentence(query.error.message)}. You see what was read before.
          </span>
          <Button look="quiet" onClick={retry}>
            Try now
          </Button>
        </div>
      )}
      {children(query.data)}
    </>
  );
}
