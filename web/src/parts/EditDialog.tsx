import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { ApiError } from '../api/error';
import { Button } from './Button';
import { Conflict, type Difference } from './Conflict';
import { Dialog } from './Dialog';
import { Mark } from './marks';
import { sentence } from './text';

interface Props<T extends { eTag: string }> {
  title: string;
  /** What is edited, as the subject of a sentence: "the channel". */
  what: string;
  /** The record as it was opened; none for a new one. */
  record?: T | undefined;
  /** The members whose messages stand beside their fields; others stand above the buttons. */
  fields: string[];
  save: (etag: string | undefined) => Promise<unknown>;
  /** Reads the record again, after somebody else changed it. */
  read: (record: T) => Promise<T | undefined>;
  differences: (theirs: T) => Difference[];
  /** Called before saving; false keeps the dialog open. */
  check?: () => boolean;
  /** Something that is required is missing. */
  incomplete: boolean;
  /** The word on the button for a new record. */
  add: string;
  hint?: ReactNode;
  onClose: () => void;
  /** Renders the fields. `problem` returns the error message of a member. */
  children: (problem: (path: string) => string | undefined) => ReactNode;
}

/** A form that adds or changes a record: messages beside their fields, and a choice when somebody else saved in the meantime. */
export function EditDialog<T extends { eTag: string }>(props: Props<T>) {
  const { title, what, record, fields, save, read, differences, check, incomplete, add, hint, onClose, children } = props;
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [theirs, setTheirs] = useState<T>();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [error]);
  const run = async (etag = record?.eTag) => {
    setBusy(true);
    setError(undefined);
    try {
      await save(etag);
      onClose();
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      // If the record cannot be read, the message says that it has changed. The next try to save reads it again.
      const now = cause.status === 412 && record ? await read(record).catch(() => undefined) : undefined;
      if (now) setTheirs(now);
      else setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (check?.() ?? true) void run();
  };
  if (theirs)
    return (
      <Conflict
        what={what}
        differences={differences(theirs)}
        onClose={() => setTheirs(undefined)}
        onTheirs={onClose}
        onMine={() => {
          setTheirs(undefined);
          void run(theirs.eTag);
        }}
      />
    );
  const problem = (path: string) => error?.field(path) && sentence(error.field(path) ?? '');
  const other = error?.apartFrom(...fields);
  return (
    <Dialog title={title} className="broad" onClose={onClose}>
      <form className="form" ref={form} onSubmit={submit}>
        {children(problem)}
        {other && (
          <div className="note error" role="alert">
            <Mark name="error" />
            <span>{sentence(other)}</span>
          </div>
        )}
        <div className="dialog-foot">
          {hint && <span className="small t3 grow">{hint}</span>}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" writes disabled={busy || incomplete}>
            {record ? 'Save' : add}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
