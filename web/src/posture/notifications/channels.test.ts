import { expect, test } from 'vitest';
import type { NotificationChannel } from '../../api/posture';
import { addressChanged, receivers, settingsOf, standingOf, target } from './channels';

const channel: NotificationChannel = {
  id: 'c',
  name: 'c',
  type: 'splunk',
  enabled: true,
  perMinute: 30,
  settings: { url: 'https://splunk.example' },
  consecutiveFailures: 0,
  deadCount: 0,
  eTag: 'e',
  lastUpdateTime: '2026-01-01T00:00:00Z',
};

test('settings without a value are left out, and so are those of another type', () => {
  expect(settingsOf('splunk', { url: ' https://splunk.example ', token: '', project: 'SEC' })).toEqual({ url: 'https://splunk.example' });
});

test('every type of channel needs at least one setting', () => {
  for (const { settings } of Object.values(receivers)) expect(settings.some((s) => !s.optional)).toBe(true);
});

test('another address asks for the secrets again, a secret address is not compared', () => {
  expect(addressChanged('splunk', channel.settings, { url: 'https://splunk.example' })).toBe(false);
  expect(addressChanged('splunk', channel.settings, { url: 'https://other.example' })).toBe(true);
  expect(addressChanged('webhook', {}, { url: 'https://new.example' })).toBe(false);
});

test('an optional address asks for the secrets again when it is given first and when it is removed', () => {
  expect(addressChanged('pagerduty', {}, { url: '' })).toBe(false);
  expect(addressChanged('pagerduty', {}, { url: 'https://events.eu.pagerduty.com/v2/enqueue' })).toBe(true);
  expect(addressChanged('pagerduty', { url: 'https://events.eu.pagerduty.com/v2/enqueue' }, {})).toBe(true);
});

test('a channel is called good only when a message was delivered', () => {
  expect(standingOf(channel)).toBe('unused');
  expect(standingOf({ ...channel, lastDeliveryState: 'Delivered', deadCount: 1 })).toBe('delivers');
  expect(standingOf({ ...channel, lastDeliveryState: 'Dead' })).toBe('failing');
  expect(standingOf({ ...channel, lastDeliveryState: 'Delivered', consecutiveFailures: 2 })).toBe('failing');
  expect(standingOf({ ...channel, enabled: false, consecutiveFailures: 2 })).toBe('off');
});

test('the target of a channel consists of settings that are not secret', () => {
  expect(target(channel)).toBe('https://splunk.example');
  expect(target({ type: 'jira', settings: { url: 'https://jira.example', project: 'SEC' } })).toBe('https://jira.example, SEC');
  expect(target({ type: 'slack', settings: {} })).toBe('');
});
