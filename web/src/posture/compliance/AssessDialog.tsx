import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { posture, type ControlPosture } from '../../api/posture';
import { Button } from '../../parts/Button';
import { dateOf, timeOf } from '../../parts/dates';
import { EditDialog } from '../../parts/EditDialog';
import { failureText } from '../../parts/failure';
import { TextArea, TextField } from '../../parts/Field';
import { Mark } from '../../parts/marks';
import { Segments } from '../../parts/Segments';
import { showToast } from '../../parts/toast';

type Assessed = NonNullable<ControlPosture['assessed']>;

/** A year from now in the format of a date input: most audits repeat every year. */
const nextYear = () => dateOf(Date.now() + 365 * 24 * 3_600_000);

/** Records a manual assessment of a control that no rule checks: the verdict, the reason, and until when it is valid. */
export function AssessDialog({ framework, control, onClose }: { framework: string; control: ControlPosture; onClose: () => void }) {
  const old = control.assessed;
  const [verdict, setVerdict] = useState<Assessed['verdict']>(old?.verdict ?? 'Pass');
  const [reason, setReason] = useState(old?.reason ?? '');
  const [date, setDate] = useState(old ? dateOf(old.until) : nextYear());
  const [withdrawing, setWithdrawing] = useState(false);
  const [failure, setFailure] = useState<string>();
  const client = useQueryClient();
  const path = { framework_id: framework, control_id: control.controlId };
  // The dialog waits until the list of controls is read again. Otherwise it could be opened again with the earlier assessment.
  const done = async (text: string) => {
    await client.invalidateQueries({ queryKey: ['posture', framework] });
    showToast(text);
  };
  const save = async () => {
    setFailure(undefined);
    const until = timeOf(date, '23:59:59', old?.until);
    await posture.put('/v1/compliance-frameworks/{framework_id}/controls/{control_id}/assessment', {
      path,
      body: { verdict, reason, ...(until ? { until } : {}) },
    });
    await done(`Control ${control.controlId} is assessed`);
  };
  const withdraw = async () => {
    setWithdrawing(true);
    setFailure(undefined);
    try {
      await posture.delete('/v1/compliance-frameworks/{framework_id}/controls/{control_id}/assessment', { path });
      await done(`Control ${control.controlId} is not assessed any more`);
      onClose();
    } catch (cause) {
      setFailure(failureText(cause));
      setWithdrawing(false);
    }
  };
  return (
    <EditDialog<Assessed & { eTag: string }>
      title={`Assess control ${control.controlId}`}
      what="the assessment"
      fields={['reason', 'until']}
      save={save}
      read={() => Promise.resolve(undefined)}
      differences={() => []}
      incomplete={reason.trim() === ''}
      add="Record"
      hint={
        old && (
          <Button look="quiet" writes disabled={withdrawing} onClick={() => void withdraw()}>
            Withdraw
          </Button>
        )
      }
      onClose={onClose}
    >
      {(problem) => (
        <>
          <p className="t2">{control.title}</p>
          <div className="field">
            <span className="label">Verdict</span>
            <Segments<Assessed['verdict']>
              label="Verdict"
              value={verdict}
              onChange={setVerdict}
              options={[
                { value: 'Pass', label: 'Pass' },
                { value: 'Violation', label: 'Violated' },
                { value: 'NotApplicable', label: 'Not applicable' },
              ]}
            />
          </div>
          <TextArea
            label="Reason"
            required
            rows={3}
            maxLength={1000}
            value={reason}
            error={problem('reason')}
            hint="What you looked at, and where the evidence is"
            onChange={(e) => setReason(e.target.value)}
          />
          <TextField
            label="Until"
            type="date"
            value={date}
            error={problem('until')}
            hint="After this date the control must be assessed again; empty for no end"
            onChange={(e) => setDate(e.target.value)}
          />
          {failure && (
            <div className="note error" role="alert">
              <Mark name="error" />
              <span>{failure}</span>
            </div>
          )}
        </>
      )}
    </EditDialog>
  );
}
