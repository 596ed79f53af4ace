import { failureText } from './failure';
import { useState, type ReactNode } from 'react';
import { Button } from './Button';
import { Dialog } from './Dialog';
import { Mark } from './marks';

interface Props {
  title: string;
  /** The word on the button. */
  action: string;
  children: ReactNode;
  run: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something that cannot be undone, and shows why it failed. */
export function Confirm({ title, action, children, run, onClose }: Props) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const go = async () => {
    setBusy(true);
    try {
      await run();
      onClose();
    } catch (cause) {
      setError(failureText(cause));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="t2">{children}</div>
      {error && (
        <div className="note error" role="alert">
          <Mark name="error" />
          <span>{error}</span>
        </div>
      )}
      <div className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" writes disabled={busy} onClick={() => void go()}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
