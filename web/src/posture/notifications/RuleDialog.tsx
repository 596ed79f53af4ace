import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { ApiError } from '../../api/error';
import { posture, type NotificationRule } from '../../api/posture';
import { Button } from '../../parts/Button';
import { Conflict, differencesOf } from '../../parts/Conflict';
import { Dialog } from '../../parts/Dialog';
import { Checkbox, TextField } from '../../parts/Field';
import { ManyField } from '../../parts/ManyField';
import { Mark } from '../../parts/marks';
import { sentence } from '../../parts/text';
import { say } from '../../parts/toast';
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

/** Several of a few, all visible. */
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
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [theirs, setTheirs] = useState<NotificationRule>();
  const client = useQueryClient();
  const rules = useQuery(rulesQuery).data ?? [];
  const accounts = useQuery(accountsQuery).data ?? [];
  const channels = useQuery(channelsQuery).data ?? [];
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [error]);
  const set =
    <K extends keyof RuleDraft>(part: K) =>
    (value: RuleDraft[K]) =>
      setDraft({ ...draft, [part]: value });
  const problems = problemsOf(draft);
  const shown = tried ? problems : {};
  const findings = aboutFindings(draft);
  const save = async (etag = rule?.eTag) => {
    setBusy(true);
    setError(undefined);
    try {
      const body = specOfRule(draft);
      if (rule) await posture.put('/v1/notification-rules/{notification_rule_id}', { path: { notification_rule_id: rule.id }, body, etag });
      else await posture.post('/v1/notification-rules', { body });
      say(rule ? `${body.name} is changed` : `${body.name} is in force`);
      void client.invalidateQueries({ queryKey: ['notifications'] });
      onClose();
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      const now =
        cause.status === 412 && rule
          ? (await client.fetchQuery({ ...notificationRulesQuery, staleTime: 0 })).find((r) => r.id === rule.id)
          : undefined;
      if (now) setTheirs(now);
      else setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(problems).length === 0) void save();
  };
  const beside = (path: string) => error?.field(path) && sentence(error.field(path) ?? '');
  const told = error && !['name', 'minRiskScore'].some((f) => error.field(f)) && sentence(error.message);
  if (theirs)
    return (
      <Conflict
        what="the notification rule"
        differences={differencesOf(labels, { ...draft }, { ...draftOfRule(theirs) })}
        onClose={() => setTheirs(undefined)}
        onTheirs={onClose}
        onMine={() => {
          setTheirs(undefined);
          void save(theirs.eTag);
        }}
      />
    );
  return (
    <Dialog title={rule ? `Change ${rule.name}` : 'New notification rule'} className="broad" onClose={onClose}>
      <form className="form" ref={form} onSubmit={submit}>
        <div className="form-2">
          <TextField
            label="Name"
            required
            maxLength={100}
            value={draft.name}
            error={beside('name')}
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
              error={beside('minRiskScore')}
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
        {told && (
          <div className="note error" role="alert">
            <Mark name="error" />
            <span>{told}</span>
          </div>
        )}
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" changes disabled={busy || draft.name.trim() === ''}>
            {rule ? 'Save' : 'Add'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
