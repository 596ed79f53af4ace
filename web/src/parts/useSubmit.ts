import { useState, type FormEvent } from 'react';

/**
 * Handles the submission of a form, one at a time: a second one, such as by a double click, would create a second record, or be based on
 * a version that the first one replaces. The button of the form is disabled while `busy`.
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
