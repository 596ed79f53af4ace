import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { posture, type NotificationChannel, type NotificationChannelSpec } from '../../api/posture';
import { differencesOf } from '../../parts/Conflict';
import { EditDialog } from '../../parts/EditDialog';
import { Checkbox, SelectField, TextField } from '../../parts/Field';
import { showToast } from '../../parts/toast';
import { addressChanged, channelTypes, receivers, settingsOf, type ChannelType, type Setting } from './channels';
import { channelsQuery } from './data';

interface FieldProps {
  setting: Setting;
  value: string;
  /** The channel is stored: a secret that is left empty stays. */
  stored: boolean;
  /** The address of the stored channel changes: its secrets must be entered again. */
  addressChanges: boolean;
  error: string | undefined;
  onChange: (value: string) => void;
}

function SettingField({ setting: s, value, stored, addressChanges, error, onChange }: FieldProps) {
  const label = s.optional ? `${s.label} (optional)` : s.label;
  if (s.options)
    return <SelectField label={s.label} value={value} options={s.options} error={error} onChange={(e) => onChange(e.target.value)} />;
  const hint =
    !s.secret || !stored
      ? s.hint
      : addressChanges
        ? 'Enter it again: a secret is not sent to another address.'
        : 'Not shown. Leave empty to keep the stored value.';
  return (
    <TextField
      label={label}
      value={value}
      hint={hint}
      error={error}
      placeholder={s.secret && stored ? undefined : s.placeholder}
      required={!s.optional && !(s.secret && stored)}
      maxLength={2000}
      {...(s.secret ? { type: 'password', autoComplete: 'new-password' } : {})}
      onChange={(e) => onChange(e.target.value)}
    />
  );
}

const labels = { name: 'Name', enabled: 'On', perMinute: 'Messages a minute', settings: 'Settings' };
/** The values that are compared when somebody else saved in the meantime. Secrets are left out. */
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
  const client = useQueryClient();
  const spec: NotificationChannelSpec = {
    name: name.trim(),
    type,
    enabled,
    perMinute: Number(perMinute),
    settings: settingsOf(type, values),
  };
  const { settings } = receivers[type];
  const save = async (etag: string | undefined) => {
    if (channel) await posture.put('/v1/notification-channels/{channel_id}', { path: { channel_id: channel.id }, body: spec, etag });
    else await posture.post('/v1/notification-channels', { body: spec });
    showToast(channel ? `${spec.name} is changed` : `${spec.name} is added; test it, then add a rule that sends to it`);
    void client.invalidateQueries({ queryKey: ['notifications'] });
  };
  return (
    <EditDialog
      title={channel ? `Change ${channel.name}` : 'New channel'}
      what="the channel"
      record={channel}
      fields={['name', 'perMinute', 'type', ...settings.map((s) => `settings.${s.name}`)]}
      save={save}
      read={async ({ id }) => (await client.fetchQuery({ ...channelsQuery, staleTime: 0 })).find((c) => c.id === id)}
      differences={(theirs) => differencesOf(labels, plain(spec), plain(theirs))}
      incomplete={name.trim() === ''}
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
              value={name}
              error={problem('name')}
              placeholder="on call"
              onChange={(e) => setName(e.target.value)}
            />
            <SelectField
              label="Type"
              value={type}
              disabled={!!channel}
              error={problem('type')}
              options={channelTypes.map((t) => ({ value: t, label: receivers[t].label }))}
              hint={channel ? 'The type of a channel cannot be changed.' : undefined}
              onChange={(e) => {
                setType(e.target.value as ChannelType);
                setValues({});
              }}
            />
          </div>
          <div className={settings.length > 2 ? 'form-2' : 'form'}>
            {settings.map((s) => (
              <SettingField
                key={`${type} ${s.name}`}
                setting={s}
                value={values[s.name] ?? ''}
                stored={!!channel}
                addressChanges={!!channel && addressChanged(type, channel.settings, values)}
                error={problem(`settings.${s.name}`)}
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
              error={problem('perMinute')}
              onChange={(e) => setPerMinute(e.target.value)}
            />
          </div>
          <Checkbox label="On: messages are sent to it" checked={enabled} onChange={(e) => setEnabled(e.target.checked)} />
        </>
      )}
    </EditDialog>
  );
}
