import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { posture, type NotificationRule } from '../../api/posture';
import { differencesOf } from '../../parts/Conflict';
import { EditDialog } from '../../parts/EditDialog';
import { Checkbox, TextField } from '../../parts/Field';
import { ManyField } from '../../parts/ManyField';
import { Mark } from '../../parts/marks';
import { showToast } from '../../parts/toast';
import { accountsQuery, rulesQuery } from '../data';
import { parseTag } from '../mutes/scope';
import { channelsQuery, notificationRulesQuery } from './data';
import { aboutFindings, draftOfRule, eventNames, events, levelNames, problemsOf, specOfRule, type RuleDraft } from './rules';

interface TicksProps<T extends string> {
  label: string;
  values: T[];
  options: { value: T; label: string }[];
  error?: string | undefined;
  inline?: boolean;
  onChange: (values: T[]) => void;
}

/** A checkbox for each option. Several can be chosen. */
function Ticks<T extends string>({ label, values, options, error, inline, onChange }: TicksProps<T>) {
  const id = useId();
  return (
    <fieldset className="field" aria-describedby={error ? id : undefined}>
      <legend className="label">{label}</legend>
      <div className={inline ? 'ticks inline' : 'ticks'}>
        {options.map((o) => (
          <Checkbox
            key={o.value}
            label={o.label}
            checked={values.includes(o.value)}
            onChange={(e) => onChange(e.target.checked ? [...values, o.value] : values.filter((v) => v !== o.value))}
          />
        ))}
      </div>
      {error && (
        <span className="field-error" id={id} role="alert">
          {error}
        </span>
      )}
    </fieldset>
  );
}

const labels = {
  name: 'Name',
  enabled: 'On',
  events: 'Events',
  levels: 'Levels',
  minRisk: 'Risk',
  rules: 'Rules',
  accounts: 'Accounts',
  tags: 'Tags',
  channels: 'Channels',
};

/** A new notification rule, or a change of one: which events, of which findings, to whom. */
export function RuleDialog({ rule, onClose }: { rule?: NotificationRule; onClose: () => void }) {
  const [draft, setDraft] = useState(() => draftOfRule(rule));
  const [tried, setTried] = useState(false);
  const client = useQueryClient();
  const rules = useQuery(rulesQuery).data ?? [];
  const accounts = useQuery(accountsQuery).data ?? [];
  const channels = useQuery(channelsQuery).data ?? [];
  const set =
    <K extends keyof RuleDraft>(part: K) =>
    (value: RuleDraft[K]) =>
      setDraft({ ...draft, [part]: value });
  const problems = problemsOf(draft);
  const shown = tried ? problems : {};
  const findings = aboutFindings(draft);
  const save = async (etag: string | undefined) => {
    const body = specOfRule(draft);
    if (rule) await posture.put('/v1/notification-rules/{notification_rule_id}', { path: { notification_rule_id: rule.id }, body, etag });
    else await posture.post('/v1/notification-rules', { body });
    showToast(rule ? `${body.name} is changed` : `${body.name} is in force`);
    void client.invalidateQueries({ queryKey: ['notifications'] });
  };
  const check = () => {
    setTried(true);
    return Object.keys(problems).length === 0;
  };
  return (
    <EditDialog
      title={rule ? `Change ${rule.name}` : 'New notification rule'}
      what="the notification rule"
      record={rule}
      fields={['name', ...(findings ? ['minRiskScore'] : [])]}
      save={save}
      read={async ({ id }) => (await client.fetchQuery({ ...notificationRulesQuery, staleTime: 0 })).find((r) => r.id === id)}
      differences={(theirs) => differencesOf(labels, { ...draft }, { ...draftOfRule(theirs) })}
      check={check}
      incomplete={draft.name.trim() === ''}
      add="Add"
      onClose={onClose}
    >
      {(problem) => (
        <>
          <div className="form-2">
            <TextField
              label="Name"
              required
              maxLength={100}
              value={draft.name}
              error={problem('name')}
              placeholder="high risk"
              onChange={(e) => set('name')(e.target.value)}
            />
            <ManyField
              label="Channels"
              values={draft.channels}
              onChange={set('channels')}
              options={channels.map((c) => ({ value: c.id, label: c.name }))}
              placeholder="Add a channel"
              error={shown.channels}
              {...(channels.length === 0 ? { hint: 'No channels yet: add one first.' } : {})}
            />
          </div>
          <Ticks
            label="When"
            values={draft.events}
            onChange={set('events')}
            options={eventNames.map((e) => ({ value: e, label: events[e].label }))}
            error={shown.events}
          />
          {findings ? (
            <div className="form-2">
              <Ticks
                label="Levels of findings"
                inline
                values={draft.levels}
                onChange={set('levels')}
                options={levelNames.map((l) => ({ value: l, label: l }))}
                error={shown.levels}
              />
              <TextField
                label="Risk at least"
                type="number"
                min={0}
                max={100}
                value={draft.minRisk}
                error={problem('minRiskScore')}
                placeholder="Any risk"
                onChange={(e) => set('minRisk')(e.target.value)}
              />
            </div>
          ) : (
            <p className="note">
              <Mark name="none" />
              <span>Levels, risk and rules choose findings; these events are about accounts.</span>
            </p>
          )}
          <div className="form-2">
            {findings && (
              <ManyField
                label="Rules"
                values={draft.rules}
                onChange={set('rules')}
                options={rules.map((r) => ({ value: r.id, label: r.name }))}
                placeholder="Any rule"
              />
            )}
            <ManyField
              label="Accounts"
              values={draft.accounts}
              onChange={set('accounts')}
              options={accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName }))}
              placeholder="Any account"
            />
            <ManyField label="Tags" values={draft.tags} onChange={set('tags')} parse={parseTag} placeholder="env=prod" />
          </div>
          <Checkbox label="On: events are sent" checked={draft.enabled} onChange={(e) => set('enabled')(e.target.checked)} />
        </>
      )}
    </EditDialog>
  );
}
