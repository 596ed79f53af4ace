import type { NotificationChannel } from '../../api/posture';
import type { MarkName } from '../../parts/marks';

export type ChannelType = NotificationChannel['type'];

/** One setting of a type of channel. The server checks the values; the form only knows what to ask for. */
export interface Setting {
  name: string;
  label: string;
  secret?: boolean;
  optional?: boolean;
  placeholder?: string;
  hint?: string;
  options?: { value: string; label: string }[];
}

interface Receiver {
  label: string;
  settings: Setting[];
}

export const receivers: Record<ChannelType, Receiver> = {
  webhook: {
    label: 'Webhook',
    settings: [
      {
        name: 'url',
        label: 'Address',
        secret: true,
        placeholder: 'https://',
        hint: 'Stored as a secret: anyone who knows the address can post to it.',
      },
      {
        name: 'signingKey',
        label: 'Signing key',
        secret: true,
        optional: true,
        hint: '16 bytes or more. Messages carry a signature made with it.',
      },
    ],
  },
  slack: {
    label: 'Slack',
    settings: [{ name: 'url', label: 'Address of the incoming webhook', secret: true, placeholder: 'https://hooks.slack.com/services/' }],
  },
  teams: {
    label: 'Microsoft Teams',
    settings: [
      {
        name: 'url',
        label: 'Address of the workflow',
        secret: true,
        placeholder: 'https://',
        hint: 'Of a workflow that posts what a webhook receives.',
      },
    ],
  },
  email: {
    label: 'E-mail',
    settings: [
      { name: 'server', label: 'Mail server', placeholder: 'mail.example.com:587' },
      {
        name: 'security',
        label: 'Security',
        optional: true,
        options: [
          { value: '', label: 'STARTTLS' },
          { value: 'tls', label: 'TLS' },
          { value: 'none', label: 'None' },
        ],
      },
      { name: 'from', label: 'From', placeholder: 'vigil@example.com' },
      { name: 'to', label: 'To', placeholder: 'a@example.com, b@example.com' },
      { name: 'username', label: 'User name', optional: true },
      { name: 'password', label: 'Password', secret: true, optional: true },
    ],
  },
  pagerduty: {
    label: 'PagerDuty',
    settings: [
      { name: 'routingKey', label: 'Routing key', secret: true, hint: 'Of an Events API v2 integration.' },
      { name: 'url', label: 'Address', optional: true, placeholder: 'https://events.pagerduty.com/v2/enqueue' },
    ],
  },
  jira: {
    label: 'Jira',
    settings: [
      { name: 'url', label: 'Address', placeholder: 'https://example.atlassian.net' },
      { name: 'project', label: 'Project', placeholder: 'SEC' },
      { name: 'username', label: 'User name' },
      { name: 'apiToken', label: 'API token', secret: true },
      { name: 'issueType', label: 'Issue type', optional: true, placeholder: 'Task' },
    ],
  },
  splunk: {
    label: 'Splunk',
    settings: [
      { name: 'url', label: 'Address of the HTTP Event Collector', placeholder: 'https://' },
      { name: 'token', label: 'Token', secret: true },
      { name: 'index', label: 'Index', optional: true },
    ],
  },
  syslog: {
    label: 'Syslog',
    settings: [
      { name: 'server', label: 'Server', placeholder: 'syslog.example.com:514' },
      {
        name: 'transport',
        label: 'Transport',
        optional: true,
        options: [
          { value: '', label: 'UDP' },
          { value: 'tcp', label: 'TCP' },
          { value: 'tls', label: 'TLS' },
        ],
      },
    ],
  },
  securityhub: {
    label: 'AWS Security Hub',
    settings: [
      {
        name: 'roleArn',
        label: 'ARN of the role',
        placeholder: 'arn:aws:iam::123456789012:role/vigil-security-hub',
        hint: 'It may call securityhub:BatchImportFindings, and its trust policy requires the external id of your organisation.',
      },
      { name: 'region', label: 'Region', placeholder: 'eu-west-1' },
    ],
  },
};

export const channelTypes = Object.keys(receivers) as ChannelType[];

/** The settings that are sent: those of the type that have a value. A secret that is left empty stays as it is on the server. */
export const settingsOf = (type: ChannelType, values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(receivers[type].settings.map((s) => [s.name, (values[s.name] ?? '').trim()]).filter(([, value]) => value !== ''));

/** Whether the address of a channel differs from the stored one: then the server requires its secrets again. A secret address is not known here, and not compared. */
export const addressChanged = (type: ChannelType, stored: Record<string, string>, values: Record<string, string>): boolean =>
  receivers[type].settings.some(
    ({ name, secret }) => ['url', 'server'].includes(name) && !secret && (values[name] ?? '').trim() !== (stored[name] ?? ''),
  );

/** Where a channel sends to, without settings that are secret. */
export function target(channel: Pick<NotificationChannel, 'type' | 'settings'>): string {
  const { to, server, url, project } = channel.settings;
  return [to ?? server ?? url, project].filter(Boolean).join(', ');
}

export type Standing = 'failing' | 'delivers' | 'unused' | 'off';

/** The delivery status of a channel. One that was never used is unused, not OK. */
export function standingOf(channel: NotificationChannel): Standing {
  if (!channel.enabled) return 'off';
  if (channel.consecutiveFailures > 0) return 'failing';
  if (!channel.lastDeliveryState) return 'unused';
  return channel.lastDeliveryState === 'Dead' ? 'failing' : 'delivers';
}

export const standings: Record<Standing, { mark: MarkName; label: string }> = {
  failing: { mark: 'error', label: 'Fails' },
  delivers: { mark: 'ok', label: 'Delivers' },
  unused: { mark: 'nothing', label: 'Not used yet' },
  off: { mark: 'off', label: 'Off' },
};
