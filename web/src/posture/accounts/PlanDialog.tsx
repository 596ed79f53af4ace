import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { Button } from '../../parts/Button';
import { Dialog } from '../../parts/Dialog';
import { SelectField } from '../../parts/Field';
import { Answer } from '../../parts/states';
import { sentence } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { useSubmit } from '../../parts/useSubmit';
import { every, intervals, inWords, planQuery, type Plan } from './schedule';

const paused = 'paused';

function Form({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const client = useQueryClient();
  const refused = useRefusal('admin', 'accounts');
  const [choice, setChoice] = useState(plan.paused ? paused : String(plan.everyHours));
  const [error, setError] = useState<string>();
  const { submit, busy } = useSubmit(async () => {
    const next = { everyHours: choice === paused ? plan.everyHours : Number(choice), paused: choice === paused };
    try {
      await posture.put('/v1/collection-plan', { body: next });
      await client.invalidateQueries({ queryKey: ['accounts'] });
      showToast(`Collections of all accounts: ${inWords(next)}`);
      onClose();
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      setError(sentence(cause.message));
    }
  });
  return (
    <form className="form" onSubmit={submit}>
      <SelectField
        label="All accounts are collected"
        value={choice}
        onChange={(e) => setChoice(e.target.value)}
        error={error}
        hint="Accounts with a schedule of their own keep it. The times of the next collections are set again. Regions are chosen for each account, in its settings."
        options={[
          ...intervals(plan.everyHours).map((h) => ({ value: String(h), label: every(h) })),
          { value: paused, label: 'Paused: only when a user starts a collection' },
        ]}
      />
      <div className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" writes refused={refused} disabled={busy}>
          Save
        </Button>
      </div>
    </form>
  );
}

/** How often the accounts of the organisation are collected. */
export function PlanDialog({ onClose }: { onClose: () => void }) {
  const query = useQuery(planQuery);
  return (
    <Dialog title="Schedule of the organisation" onClose={onClose}>
      <Answer query={query} what="the schedule">
        {(plan) => <Form key={JSON.stringify(plan)} plan={plan} onClose={onClose} />}
      </Answer>
    </Dialog>
  );
}
