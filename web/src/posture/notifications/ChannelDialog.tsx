import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type FormEvent } from 'react';
import { ApiError } from '../../api/error';
import { posture, type NotificationChannel, type NotificationChannelSpec } from '../../api/posture';
import { Button } from '../../parts/Button';
import { Conflict, differencesOf } from '../../parts/Conflict';
import { Dialog } from '../../parts/Dialog';
import { Checkbox, SelectField, TextField } from '../../parts/Field';
import { Mark } from '../../parts/marks';
import { sentence } from '../../parts/text';
import { say } from '../../parts/toast';
import { channelTypes, moved, receivers, settingsOf, type ChannelType, type Setting } from './channels';
import { channelsQuery } from './data';

interface FieldProps {
  setting: Setting;
  value: string;
  /** A stored secret: left empty, it stays. */
  kept: boolean;
  /** The address changes, so that stored secrets are asked for again. */
  again: boolean;
  error: string | undefined;
  onChange: (value: string) => void;
}

function SettingField({ setting: s, value, kept, again, error, onChange }: FieldProps) {
  const label = s.optional ? `${s.label} (optional)` : s.label;
  const told = error && sentence(error);
  if (s.options)
    return <SelectField label={s.label} value={value} options={s.options} error={told} onChange={(e) => onChange(e.target.value)} />;
  const hint =
    !s.secret || !kept
      ? s.hint
      : again
        ? 'Give it again: a secret is not taken to another address.'
        : 'Not shown. Left empty, it stays as it is.';
  return (
    <TextField
      label={label}
      value={value}
      hint={hint}
      error={told}
      placeholder={s.secret && kept ? undefined : s.placeholder}
      required={!s.optional && !(s.secret && kept)}
      maxLength={2000}
      {...(s.secret ? { type: 'password', autoComplete: 'new-password' } : {})}
      onChange={(e) => onChange(e.target.value)}
    />
  );
}

const labels = { name: 'Name', enabled: 'On', perMinute: 'Messages a minute', settings: 'Settings' };
/** What two people may have changed. Secrets are not among it. */
const plain = (c: NotificationChannelSpec | NotificationChannel) => ({
  name: c.name,
  enabled: c.enabled ? 'yes' : 'no',
  perMinute: c.perMinute,
  settings: receivers[c.type].settings
    .filter((s) => !s.secret && c.settings[s.name])
    .map((s) => `${s.label}: ${c.settings[s.name]}`)
    .join('\n'),
});

/** A new channel, or a change of one. Secrets are written, never read. */
export function ChannelDialog({ channel, onClose }: { channel?: NotificationChannel; onClose: () => void }) {
  const [type, setType] = useState<ChannelType>(channel?.type ?? 'webhook');
  const [name, setName] = useState(channel?.name ?? '');
  const [enabled, setEnabled] = useState(channel?.enabled ?? true);
  const [perMinute, setPerMinute] = useState(String(channel?.perMinute ?? 30));
  const [values, setValues] = useState<Record<string, string>>(channel?.settings ?? {});
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const [theirs, setTheirs] = useState<NotificationChannel>();
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [error]);
  const spec: NotificationChannelSpec = {
    name: name.trim(),
    type,
    enabled,
    perMinute: Number(perMinute),
    settings: settingsOf(type, values),
  };
  const save = async (etag = channel?.eTag) => {
    setBusy(true);
    setError(undefined);
    try {
      if (channel) await posture.put('/v1/notification-channels/{channel_id}', { path: { channel_id: channel.id }, body: spec, etag });
      else await posture.post('/v1/notification-channels', { body: spec });
      say(channel ? `${spec.name} is changed` : `${spec.name} is added; test it, then add a rule that sends to it`);
      void client.invalidateQueries({ queryKey: ['notifications'] });
      onClose();
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      const now =
        cause.status === 412 && channel
          ? (await client.fetchQuery({ ...channelsQuery, staleTime: 0 })).find((c) => c.id === channel.id)
          : undefined;
      if (now) setTheirs(now);
      else setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save();
  };
  const { settings } = receivers[type];
  const beside =
    error && (['name', 'perMinute', 'type'].some((f) => error.field(f)) || settings.some((s) => error.field(`settings.${s.name}`)));
  if (theirs)
    return (
      <Conflict
        what="the channel"
        differences={differencesOf(labels, plain(spec), plain(theirs))}
        onClose={() => setTheirs(undefined)}
        onTheirs={onClose}
        onMine={() => {
          setTheirs(undefined);
          void save(theirs.eTag);
        }}
      />
    );
  return (
    <Dialog title={channel ? `Change ${channel.name}` : 'New channel'} className="broad" onClose={onClose}>
      <form className="form" ref={form} onSubmit={submit}>
        <div className="form-2">
          <TextField
            label="Name"
            required
            maxLength={100}
            value={name}
            error={error?.field('name') && sentence(error.field('name') ?? '')}
            placeholder="on call"
            onChange={(e) => setName(e.target.value)}
          />
          <SelectField
            label="Type"
            value={type}
            disabled={!!channel}
            options={channelTypes.map((t) => ({ value: t, label: receivers[t].label }))}
            hint={channel ? 'The type of a channel cannot be changed.' : undefined}
            onChange={(e) => {
              setType(e.target.value as ChannelType);
              setValues({});
              setError(undefined);
            }}
          />
        </div>
        <div className={settings.length > 2 ? 'form-2' : 'form'}>
          {settings.map((s) => (
            <SettingField
              key={`${type} ${s.name}`}
              setting={s}
              value={values[s.name] ?? ''}
              kept={!!channel}
              again={!!channel && moved(channel.settings, values)}
              error={error?.field(`settings.${s.name}`)}
              onChange={(value) => setValues({ ...values, [s.name]: value })}
            />
          ))}
        </div>
        <div className="form-2">
          <TextField
            label="Messages a minute at most"
            type="number"
            min={1}
            max={600}
            required
            value={perMinute}
            error={error?.field('perMinute') && sentence(error.field('perMinute') ?? '')}
            onChange={(e) => setPerMinute(e.target.value)}
          />
        </div>
        <Checkbox label="On: messages are sent to it" checked={enabled} onChange={(e) => setEnabled(e.target.checked)} />
        {error && !beside && (
          <div className="note error" role="alert">
            <Mark name="error" />
            <span>{sentence(error.message)}</span>
          </div>
        )}
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" changes disabled={busy || name.trim() === ''}>
            {channel ? 'Save' : 'Add'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
