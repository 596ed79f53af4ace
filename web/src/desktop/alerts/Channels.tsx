import type { ApiError } from '../../api/error';
import type { AlertRuleSpec } from '../../api/desktop';
import { Button } from '../../parts/Button';
import { SelectField, TextField } from '../../parts/Field';

type Channel = AlertRuleSpec['channels'][number];

/** A channel as it is edited: one text for the address of a webhook or the addresses of a mail. */
export interface ChannelDraft {
  type: Channel['type'];
  target: string;
}

/** The server accepts at most this many channels of a rule. */
const maxChannels = 10;

export const emptyChannel: ChannelDraft = { type: 'WEBHOOK', target: '' };
export const draftOfChannel = (c: Channel): ChannelDraft => ({
  type: c.type,
  target: c.type === 'MAIL' ? (c.to ?? []).join(', ') : (c.url ?? ''),
});
export const channelOfDraft = ({ type, target }: ChannelDraft): Channel =>
  type === 'MAIL' ? { type, to: target.split(/[\s,]+/).filter(Boolean) } : { type, url: target.trim() };

/** Where the alerts of a rule are sent: at least one channel. */
export function Channels({
  channels,
  onChange,
  error,
}: {
  channels: ChannelDraft[];
  onChange: (channels: ChannelDraft[]) => void;
  error: ApiError | undefined;
}) {
  const set = (i: number, patch: Partial<ChannelDraft>) => onChange(channels.map((c, k) => (k === i ? { ...c, ...patch } : c)));
  return (
    <>
      {channels.map((c, i) => (
        <div key={i} className="channel-form" role="group" aria-label={`Channel ${i + 1}`}>
          <SelectField
            label={i === 0 ? 'Notify by' : 'Also notify by'}
            value={c.type}
            onChange={(e) => set(i, { type: e.target.value as Channel['type'], target: '' })}
            options={[
              { value: 'WEBHOOK', label: 'webhook' },
              { value: 'MAIL', label: 'mail' },
            ]}
          />
          <TextField
            label={c.type === 'MAIL' ? 'Addresses' : 'Address of the webhook'}
            required
            value={c.target}
            error={error?.fields.find((f) => f.path.startsWith(`channels[${i}]`))?.message}
            onChange={(e) => set(i, { target: e.target.value })}
          />
          {channels.length > 1 && (
            <Button
              icon="trash"
              aria-label={`Remove channel ${i + 1}`}
              title="Remove this channel"
              onClick={() => onChange(channels.filter((_, k) => k !== i))}
            />
          )}
        </div>
      ))}
      {channels.length < maxChannels && (
        <div>
          <Button icon="plus" onClick={() => onChange([...channels, emptyChannel])}>
            Add a channel
          </Button>
        </div>
      )}
    </>
  );
}
