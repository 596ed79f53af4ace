import { useState, type FormEvent } from 'react';
import { ApiError } from '../../api/error';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { TextArea, TextField } from '../../parts/Field';
import { Segments } from '../../parts/Segments';
import { plural, sentence } from '../../parts/text';
import { day } from '../../parts/time';
import { useSuppress } from './useSuppress';

type Until = '7' | '30' | 'date' | 'never';

function untilOf(choice: Until, date: string): Date | null {
  if (choice === 'never') return null;
  if (choice === 'date') return date ? new Date(`${date}T00:00:00`) : null;
  return new Date(Date.now() + Number(choice) * 24 * 3_600_000);
}

/** Asks for the reason and the end of a suppression. */
export function SuppressDialog({ ids, onDone, onClose }: { ids: string[]; onDone?: () => void; onClose: () => void }) {
  const [reason, setReason] = useState('');
  const [choice, setChoice] = useState<Until>('30');
  const [date, setDate] = useState('');
  const { suppress, busy, error } = useSuppress();
  const until = untilOf(choice, date);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await suppress(ids, reason, until))) return;
    onDone?.();
    onClose();
  };
  const message = error instanceof ApiError ? (error.field('reason') ?? sentence(error.message)) : undefined;
  return (
    <Dialog title={`Suppress ${plural(ids.length, 'finding')}`} onClose={onClose}>
      <form className="form" onSubmit={(e) => void submit(e)}>
        <TextArea label="Reason" required autoFocus value={reason} error={message} onChange={(e) => setReason(e.target.value)} />
        <div className="field">
          <span className="label">Until</span>
          <Segments<Until>
            label="Until"
            value={choice}
            onChange={setChoice}
            options={[
              { value: '7', label: '7 days' },
              { value: '30', label: '30 days' },
              { value: 'date', label: 'A date' },
              { value: 'never', label: 'For good' },
            ]}
          />
        </div>
        {choice === 'date' && <TextField label="Date" type="date" required value={date} onChange={(e) => setDate(e.target.value)} />}
        <div className="dialog-foot">
          <span className="small t3 grow">
            {until ? `Comes back on ${day(until)}.` : 'Stays suppressed until released.'} Status and score stay.
          </span>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" writes disabled={busy || reason.trim() === ''}>
            Suppress
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
