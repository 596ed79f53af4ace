import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { posture, type MuteRule, type MuteSpec } from '../../api/posture';
import { differencesOf } from '../../parts/Conflict';
import { dateOf, timeOf } from '../../parts/dates';
import { EditDialog } from '../../parts/EditDialog';
import { TextArea, TextField } from '../../parts/Field';
import { ManyField } from '../../parts/ManyField';
import { Segments } from '../../parts/Segments';
import { day } from '../../parts/time';
import { showToast } from '../../parts/toast';
import { accountsQuery, rulesQuery } from '../data';
import { MutePreview } from './MutePreview';
import { draftOfScope, parseTag, scopeOf, type ScopeDraft } from './scope';

type End = '7' | '30' | '90' | 'date' | 'never';

function untilOf(choice: End, date: string, stored: string | undefined): string | undefined {
  if (choice === 'never') return undefined;
  if (choice === 'date') return timeOf(date, '00:00:00', stored);
  return new Date(Date.now() + Number(choice) * 24 * 3_600_000).toISOString();
}

const labels = {
  name: 'Name',
  reason: 'Reason',
  until: 'Until',
  rules: 'Rules',
  accounts: 'Accounts',
  tags: 'Tags',
  resources: 'Resources',
};
const plain = (m: MuteSpec | MuteRule) => ({ name: m.name, reason: m.reason, until: m.until ?? '', ...draftOfScope(m.scope) });

/** Creates or changes a mute rule: which findings, why and until when, with a preview of what it would suppress now. */
export function MuteDialog({ rule, first, onClose }: { rule?: MuteRule; first: ScopeDraft; onClose: () => void }) {
  const [name, setName] = useState(rule?.name ?? '');
  const [reason, setReason] = useState(rule?.reason ?? '');
  const [draft, setDraft] = useState(first);
  const [end, setEnd] = useState<End>(rule ? (rule.until ? 'date' : 'never') : '30');
  const [date, setDate] = useState(dateOf(rule?.until));
  const client = useQueryClient();
  const rules = useQuery(rulesQuery).data ?? [];
  const accounts = useQuery(accountsQuery).data ?? [];
  const scope = scopeOf(draft);
  const until = untilOf(end, date, rule?.until);
  const spec: MuteSpec = { name, reason, scope, until: until ?? null };
  const set = (part: keyof ScopeDraft) => (values: string[]) => setDraft({ ...draft, [part]: values });
  const save = async (etag: string | undefined) => {
    if (rule) await posture.put('/v1/mute-rules/{mute_rule_id}', { path: { mute_rule_id: rule.id }, body: spec, etag });
    else await posture.post('/v1/mute-rules', { body: spec });
    showToast(rule ? `${name} is changed` : `${name} is in force`);
    void client.invalidateQueries({ queryKey: ['mutes'] });
    void client.invalidateQueries({ queryKey: ['findings'] });
  };
  const read = async ({ id }: MuteRule) => {
    void client.invalidateQueries({ queryKey: ['mutes'] });
    return posture.get('/v1/mute-rules/{mute_rule_id}', { path: { mute_rule_id: id } });
  };
  return (
    <EditDialog
      title={rule ? `Change ${rule.name}` : 'New mute rule'}
      what="the mute rule"
      record={rule}
      fields={['name', 'reason', ...(end === 'date' ? ['until'] : [])]}
      save={save}
      read={read}
      differences={(theirs) => differencesOf(labels, plain(spec), plain(theirs))}
      incomplete={name.trim() === '' || reason.trim() === '' || Object.keys(scope).length === 0}
      add="Mute"
      hint={until ? `The findings count again on ${day(until)}.` : 'The findings count again when it is ended or deleted.'}
      onClose={onClose}
    >
      {(problem) => (
        <>
          <TextField label="Name" required maxLength={100} value={name} error={problem('name')} onChange={(e) => setName(e.target.value)} />
          <div className="form-2">
            <ManyField
              label="Rules"
              values={draft.rules}
              onChange={set('rules')}
              options={rules.map((r) => ({ value: r.id, label: r.name }))}
              placeholder="Any rule"
            />
            <ManyField
              label="Accounts"
              values={draft.accounts}
              onChange={set('accounts')}
              options={accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName }))}
              placeholder="Any account"
            />
            <ManyField label="Tags" values={draft.tags} onChange={set('tags')} parse={parseTag} placeholder="env=dev" />
            <ManyField
              label="Resources"
              values={draft.resources}
              onChange={set('resources')}
              placeholder="arn:aws:s3:::sandbox-*"
              hint="Ids or names; * is any text, ? one character"
            />
          </div>
          <MutePreview scope={scope} />
          <TextArea
            label="Reason"
            required
            rows={2}
            maxLength={1000}
            value={reason}
            error={problem('reason')}
            onChange={(e) => setReason(e.target.value)}
          />
          <div className="field">
            <span className="label">Until</span>
            <Segments<End>
              label="Until"
              value={end}
              onChange={setEnd}
              options={[
                { value: '7', label: '7 days' },
                { value: '30', label: '30 days' },
                { value: '90', label: '90 days' },
                { value: 'date', label: 'A date' },
                { value: 'never', label: 'For good' },
              ]}
            />
          </div>
          {end === 'date' && (
            <TextField label="Date" type="date" required value={date} error={problem('until')} onChange={(e) => setDate(e.target.value)} />
          )}
        </>
      )}
    </EditDialog>
  );
}
