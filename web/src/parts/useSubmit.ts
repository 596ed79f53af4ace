import { useState, type FormEvent } from 'react';

/**
 * Submits a form and ignores further submissions, such as of a double click, until it has ended: they would create a second record, or
 * be based on a version that the first submission replaces. The button of the form is disabled while `busy`.
 */
export function useSubmit(run: (form: HTMLFormElement) => Promise<unknown>): {
  submit: (event: FormEvent<HTMLFormElement>) => void;
  busy: boolean;
} {
  const [busy, setBusy] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    void run(event.currentTarget).finally(() => setBusy(false));
  };
  return { submit, busy };
}
