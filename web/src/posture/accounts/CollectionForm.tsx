import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { posture, type Account } from '../../api/posture';
import { useRefusal } from '../../api/session';
import { Button } from '../../parts/Button';
import { SelectField } from '../../parts/Field';
import { ManyField } from '../../parts/ManyField';
import { Answer } from '../../parts/states';
import { sentence } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { useSubmit } from '../../parts/useSubmit';
import { every, intervals, inWords, planQuery, type Plan } from './schedule';

interface Settings {
  everyHours: number | null;
  paused: boolean | null;
  regions: string[];
  effective: { everyHours: number; paused?: boolean };
}

/**
 * The option of the list Schedule that the settings select; empty for the schedule of the organisation. `paused` is null unless the
 * account has a setting of its own: false means that the account is collected even if the organisation is paused.
 */
function scheduleOf(s: Settings): string {
  if (s.paused) return 'paused';
  if (s.everyHours) return String(s.everyHours);
  return s.paused === false ? String(s.effective.everyHours) : '';
}

const examples: Record<string, string> = { aws: 'eu-west-1', azure: 'westeurope', gcp: 'europe-west1' };

function Form({ account, settings, plan }: { account: Account; settings: Settings; plan: Plan }) {
  const refused = useRefusal('admin', 'accounts');
  const client = useQueryClient();
  const [choice, setChoice] = useState(scheduleOf(settings));
  const [regions, setRegions] = useState(settings.regions);
  const [error, setError] = useState<ApiError>();
  const { submit, busy } = useSubmit(async () => {
    setError(undefined);
    try {
      await posture.put('/v1/cloud-accounts/{cloud_account_id}/collection-settings', {
        path: { cloud_account_id: account.cloudAccountId },
        body: {
          everyHours: choice === '' ? null : choice === 'paused' ? settings.everyHours : Number(choice),
          paused: choice === '' ? null : choice === 'paused',
          regions,
        },
      });
      await client.invalidateQueries({ queryKey: ['accounts'] });
      showToast('Saved');
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      setError(cause);
    }
  });
  const ofRegion = error?.fields.find((f) => f.path.startsWith('regions')); // its path is regions[index]
  const regionError = ofRegion && `${regions[Number(/\d+/.exec(ofRegion.path)?.[0])] ?? 'A region'}: ${ofRegion.message}`;
  return (
    <form className="form settings-form" onSubmit={submit}>
      <h3>Collection</h3>
      <SelectField
        label="Schedule"
        value={choice}
        onChange={(e) => setChoice(e.target.value)}
        error={error && !ofRegion ? sentence(error.message) : undefined}
        options={[
          { value: '', label: `As the organisation: ${inWords(plan)}` },
          ...intervals(settings.everyHours ?? plan.everyHours).map((h) => ({ value: String(h), label: every(h) })),
          { value: 'paused', label: 'Paused: only when a user starts it' },
        ]}
      />
      <ManyField
        label="Regions"
        values={regions}
        onChange={setRegions}
        error={regionError}
        placeholder={regions.length === 0 ? 'All regions' : undefined}
        hint={`Such as ${examples[account.provider] ?? 'a region'}. Leave empty to read all. The next collection removes the resources of other regions, and resolves their findings with that reason.`}
      />
      <div className="row">
        <Button type="submit" writes refused={refused} disabled={busy}>
          Save collection settings
        </Button>
      </div>
    </form>
  );
}

/** When an account is collected and which of its regions are read. The settings of an account that is being deleted are not requested. */
export function CollectionForm({ account, isBeingDeleted }: { account: Account; isBeingDeleted: boolean }) {
  const path = { cloud_account_id: account.cloudAccountId };
  const plan = useQuery(planQuery);
  const settings = useQuery({
    queryKey: ['accounts', account.cloudAccountId, 'collection'],
    queryFn: async ({ signal }) =>
      (await posture.get('/v1/cloud-accounts/{cloud_account_id}/collection-settings', { path, signal })) as Settings,
    enabled: !isBeingDeleted,
  });
  return (
    <Answer query={plan} what="the schedule of the organisation">
      {(plan) => (
        <Answer query={settings} what="the collection settings">
          {(settings) => <Form key={JSON.stringify(settings)} account={account} settings={settings} plan={plan} />}
        </Answer>
      )}
    </Answer>
  );
}
