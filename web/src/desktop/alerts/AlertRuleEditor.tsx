import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/error';
import { desktop, type AlertRule, type AlertRuleSpec } from '../../api/desktop';
import { useAddress } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { SelectField, TextField } from '../../parts/Field';
import { ManyField } from '../../parts/ManyField';
import { Mark } from '../../parts/marks';
import { Answer } from '../../parts/states';
import { sentence, words } from '../../parts/text';
import { showToast } from '../../parts/toast';
import { useSubmit } from '../../parts/useSubmit';
import { allKinds, kindWords } from '../components';
import { alertRulesQuery } from '../data';
import { statusNames } from '../status';
import { channelOfDraft, Channels, draftOfChannel, emptyChannel, type ChannelDraft } from './Channels';
import { conditionText, withType } from './condition';
import './alerts.css';

type Condition = AlertRuleSpec['condition'];

function Form({ rule, start }: { rule?: AlertRule; start: Condition }) {
  const { search } = useAddress();
  const [condition, setCondition] = useState<Condition>(rule?.condition ?? start);
  const [channels, setChannels] = useState<ChannelDraft[]>(rule?.channels.map(draftOfChannel) ?? [emptyChannel]);
  const [error, setError] = useState<ApiError>();
  const client = useQueryClient();
  const navigate = useNavigate();
  const set = (patch: Partial<Condition>) => setCondition((c) => ({ ...c, ...patch }));
  const { submit, busy } = useSubmit(async (form) => {
    const value = (name: string) => String(new FormData(form).get(name) ?? '').trim();
    const body: AlertRuleSpec = {
      name: value('name'),
      enabled: rule?.enabled ?? true,
      condition,
      for_seconds: Number(value('for')) || 0,
      repeat_seconds: Number(value('repeat')) || 0,
      channels: channels.map(channelOfDraft),
    };
    setError(undefined);
    try {
      if (rule) await desktop.put('/rest/config/v1/alert-rules/{id}', { path: { id: rule.id }, body });
      else await desktop.post('/rest/config/v1/alert-rules', { body });
      await client.invalidateQueries({ queryKey: alertRulesQuery.queryKey });
      showToast('Saved');
      void navigate({ to: '/alerts' } as never);
    } catch (cause) {
      if (cause instanceof ApiError) setError(cause);
      else throw cause;
    }
  });
  return (
    <form className="form settings-form region" onSubmit={submit}>
      <TextField
        label="Name"
        name="name"
        required
        defaultValue={rule?.name ?? (search.name ? `${search.name} has a problem` : '')}
        error={error?.field('name')}
      />
      <SelectField
        label="Alerts on"
        value={condition.type}
        onChange={(e) => setCondition(withType(condition, e.target.value as Condition['type']))}
        options={[
          { value: 'STATUS', label: 'a status' },
          { value: 'CERTIFICATE', label: 'a certificate that expires' },
          { value: 'COUNT', label: 'a number' },
        ]}
      />
      <SelectField
        label="Of"
        value={condition.kind ?? ''}
        onChange={(e) => {
          const { component_id: _, ...rest } = condition;
          setCondition({ ...rest, kind: e.target.value });
        }}
        options={[{ value: '', label: 'every kind' }, ...allKinds.map((k) => ({ value: k as string, label: kindWords[k] }))]}
      />
      {condition.component_id && <p className="small t3">Only {search.name ?? condition.component_id}.</p>}
      {condition.type === 'CERTIFICATE' && (
        <TextField
          label="Days before it expires"
          type="number"
          min={0}
          value={condition.days ?? 0} // the API omits 0
          error={error?.field('condition.days')}
          onChange={(e) => set({ days: Number(e.target.value) })}
        />
      )}
      {condition.type === 'STATUS' && (
        <ManyField
          label="Statuses"
          placeholder="Add a status"
          values={condition.statuses ?? []}
          options={[...new Set([...statusNames, ...(condition.statuses ?? [])])].map((s) => ({ value: s, label: words(s) }))}
          parse={(text) => ({ value: text.toUpperCase().replace(/\W+/g, '_') })}
          error={error?.field('condition.statuses')}
          onChange={(statuses) => set({ statuses })}
        />
      )}
      {condition.type === 'COUNT' && (
        <div className="form-2">
          <TextField
            label="Measure"
            mono
            value={condition.measure ?? ''}
            error={error?.field('condition.measure')}
            onChange={(e) => set({ measure: e.target.value })}
          />
          <SelectField
            label="Is"
            value={condition.operator ?? ''}
            onChange={(e) => set({ operator: e.target.value })}
            options={[
              { value: 'ABOVE', label: 'above' },
              { value: 'BELOW', label: 'below' },
            ]}
          />
          <TextField label="Value" type="number" value={condition.value ?? 0} onChange={(e) => set({ value: Number(e.target.value) })} />
        </div>
      )}
      <div className="form-2">
        <TextField
          label="Lasts at least, in seconds"
          name="for"
          type="number"
          min={0}
          defaultValue={rule?.for_seconds ?? 0}
          error={error?.field('for_seconds')}
        />
        <TextField
          label="Repeat after seconds (0: never)"
          name="repeat"
          type="number"
          min={0}
          defaultValue={rule?.repeat_seconds ?? 0}
          error={error?.field('repeat_seconds')}
        />
      </div>
      <Channels channels={channels} onChange={setChannels} error={error} />
      {/* The sentence omits the duration: its field is uncontrolled, so the component does not know the typed value. */}
      <p className="t2">Alerts when {conditionText({ condition, for_seconds: 0 })}.</p>
      {error && (
        <div className="note error" role="alert">
          <Mark name="error" />
          <span>
            <b>{sentence(error.message)}</b> {error.fields.map((f) => `${f.path}: ${f.message}`).join('; ')}
          </span>
        </div>
      )}
      <div className="row">
        <Button type="submit" look="primary" writes disabled={busy}>
          Save
        </Button>
        <Link className="btn" to="/alerts">
          Cancel
        </Link>
      </div>
    </form>
  );
}

/** Creates or changes an alert rule. */
export default function AlertRuleEditor() {
  const { id } = useParams({ strict: false }) as { id?: string };
  const { search } = useAddress();
  const isNew = id === 'new' || !id;
  const query = useQuery({
    queryKey: ['desktop', 'alert-rule', id],
    enabled: !isNew,
    queryFn: () => desktop.get('/rest/config/v1/alert-rules/{id}', { path: { id: id ?? '' } }),
    gcTime: 0, // the form keeps the first answer that it gets; a cached answer could be older than the last save
  });
  const start: Condition = {
    type: 'STATUS',
    statuses: ['ERROR', 'PROBLEM', 'DOWN'],
    ...(search.kind ? { kind: search.kind } : {}),
    ...(search.component ? { component_id: search.component } : {}),
  };
  return (
    <Page title={isNew ? 'New alert rule' : (query.data?.name ?? 'Alert rule')} crumbs={<Link to="/alerts">Alerts</Link>}>
      {isNew ? (
        <Form start={start} />
      ) : (
        <Answer query={query} what="the rule" padded>
          {(rule) => <Form key={rule.id} rule={rule} start={start} />}
        </Answer>
      )}
    </Page>
  );
}
