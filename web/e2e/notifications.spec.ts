import type { Locator, Page } from '@playwright/test';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, postureAt, ready, test } from './fixtures';

const unique = (what: string) => `${what} ${Date.now()} ${Math.random().toString(36).slice(2, 6)}`;

/** A webhook receiver that answers with the status it is told to. */
interface Receiver {
  url: string;
  bodies: { title: string; rule: string; events: unknown[] }[];
  status: number;
}

const receivers: Server[] = [];
test.afterAll(() =>
  receivers.splice(0).forEach((server) => {
    server.closeAllConnections();
    server.close();
  }),
);

async function receive(status = 200): Promise<Receiver> {
  const receiver: Receiver = { url: '', bodies: [], status };
  const server = createServer((request, answer) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      receiver.bodies.push(JSON.parse(body) as Receiver['bodies'][number]);
      answer.writeHead(receiver.status).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  receivers.push(server);
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}

/** Calls the API with the session of the page. */
async function call<T>(page: Page, method: 'POST' | 'PUT' | 'DELETE' | 'GET', path: string, data?: object, etag?: string): Promise<T> {
  const { posture_url } = ready();
  const { csrfToken } = (await (await page.request.get(`${posture_url}/console/session`)).json()) as { csrfToken: string };
  const answer = await page.request.fetch(posture_url + path, {
    method,
    ...(data ? { data } : {}),
    headers: { 'X-CSRF-Token': csrfToken, Origin: posture_url, ...(etag ? { 'If-Match': `"${etag}"` } : {}) },
  });
  expect(answer.ok(), `${method} ${path}: ${await answer.text()}`).toBe(true);
  return (await answer.json()) as T;
}

const addWebhook = (page: Page, name: string, url: string) =>
  call<{ id: string }>(page, 'POST', '/v1/notification-channels', { name, type: 'webhook', settings: { url } });
const row = (page: Page, name: string): Locator => page.locator('tbody tr', { hasText: name });

async function remove(page: Page, name: string): Promise<void> {
  await row(page, name)
    .getByRole('button', { name: `Delete ${name}`, exact: true })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(row(page, name)).toHaveCount(0);
}

test('a channel is added, tested, switched off and deleted', async ({ posture: page }) => {
  const receiver = await receive();
  const name = unique('Hook');
  await page.goto(postureAt('/notifications'));
  await page.getByRole('button', { name: 'New channel', exact: true }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New channel' });
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel('Address').fill(receiver.url);
  await expect(dialog.getByLabel('Address')).toHaveAttribute('type', 'password');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(row(page, name)).toContainText('Not used yet');
  await row(page, name)
    .getByRole('button', { name: `Test ${name}`, exact: true })
    .click();
  await expect(row(page, name).getByRole('status')).toContainText('The receiver accepted the test');
  expect(receiver.bodies).toHaveLength(1);
  await row(page, name).getByRole('button', { name, exact: true }).click();
  const change = page.getByRole('dialog', { name: `Change ${name}` });
  await expect(change.getByLabel('Address')).toHaveValue('');
  await expect(change).toContainText('Leave empty to keep the stored value.');
  await change.getByLabel('On: messages are sent to it').uncheck();
  await change.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(row(page, name)).toContainText('Off');
  await row(page, name)
    .getByRole('button', { name: `Test ${name}`, exact: true })
    .click();
  await expect(row(page, name).getByRole('status')).toContainText('The receiver accepted the test');
  expect(receiver.bodies, 'the address was kept').toHaveLength(2);
  await remove(page, name);
});

test('when the receiver refuses the test of a channel, its answer is shown', async ({ posture: page }) => {
  const receiver = await receive(500);
  const name = unique('Refusing');
  await page.goto(postureAt('/notifications'));
  await addWebhook(page, name, receiver.url);
  await page.reload();
  await row(page, name)
    .getByRole('button', { name: `Test ${name}`, exact: true })
    .click();
  await expect(row(page, name).getByRole('status')).toContainText(/Test failed: .*500/);
  await remove(page, name);
});

const labelsOfType: [string, string[]][] = [
  ['Webhook', ['Address', 'Signing key (optional)']],
  ['Slack', ['Address of the incoming webhook']],
  ['Microsoft Teams', ['Address of the workflow']],
  ['E-mail', ['Mail server', 'Security', 'From', 'To', 'User name (optional)', 'Password (optional)']],
  ['PagerDuty', ['Routing key', 'Address (optional)']],
  ['Jira', ['Address', 'Project', 'User name', 'API token', 'Issue type (optional)']],
  ['Splunk', ['Address of the HTTP Event Collector', 'Token', 'Index (optional)']],
  ['Syslog', ['Server', 'Transport']],
  ['AWS Security Hub', ['ARN of the role', 'Region']],
];
test('each type of channel asks for its own settings', async ({ posture: page }) => {
  await page.goto(postureAt('/notifications/channels?new=yes'));
  const dialog = page.getByRole('dialog', { name: 'New channel' });
  for (const [type, labels] of labelsOfType) {
    await dialog.getByLabel('Type', { exact: true }).selectOption(type);
    for (const label of labels) await expect(dialog.getByLabel(label, { exact: true }), `${type}: ${label}`).toBeVisible();
    await expect(dialog.locator('.field')).toHaveCount(labels.length + 3); // and name, type, limit
  }
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/\/notifications\/channels$/);
});

test.describe('refused requests', () => {
  test.use({ expectsFailedAnswers: true });

  test('refused settings have the error beside their fields, and the first of these gets the focus', async ({ posture: page }) => {
    await page.goto(postureAt('/notifications/channels?new=yes'));
    const dialog = page.getByRole('dialog', { name: 'New channel' });
    await dialog.getByLabel('Name', { exact: true }).fill(unique('Bad'));
    await dialog.getByLabel('Type', { exact: true }).selectOption('E-mail');
    await dialog.getByLabel('Mail server').fill('no port');
    await dialog.getByLabel('From').fill('nobody');
    await dialog.getByLabel('To', { exact: true }).fill('a@example.com');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(dialog.getByLabel('Mail server')).toHaveAccessibleDescription(/Must be host:port/);
    await expect(dialog.getByLabel('From')).toHaveAccessibleDescription(/Must be a mail address/);
    await expect(dialog.getByLabel('Mail server')).toBeFocused();
    await expect(dialog.getByLabel('To', { exact: true })).toHaveAttribute('aria-invalid', 'false');
  });

  test('a secret must be entered again when the address of its channel changes', async ({ posture: page }) => {
    const name = unique('Splunk');
    await page.goto(postureAt('/notifications'));
    await call(page, 'POST', '/v1/notification-channels', {
      name,
      type: 'splunk',
      settings: { url: 'https://splunk.example', token: 'SECRET-TOKEN' },
    });
    await page.reload();
    await row(page, name).getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Change ${name}` });
    await expect(dialog.getByLabel('Address of the HTTP Event Collector')).toHaveValue('https://splunk.example');
    await expect(dialog.getByLabel('Token')).toHaveValue('');
    expect(await page.content()).not.toContain('SECRET-TOKEN');
    await dialog.getByLabel('Address of the HTTP Event Collector').fill('https://other.example');
    await expect(dialog).toContainText('Enter it again');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(dialog.getByLabel('Token')).toHaveAccessibleDescription(/Must be given again when the address changes/);
    await dialog.getByLabel('Token').fill('ANOTHER-TOKEN');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(row(page, name)).toContainText('https://other.example');
    await remove(page, name);
  });

  test('a channel that a rule sends to is not deleted, and the rule is named', async ({ posture: page }) => {
    const name = unique('Used');
    await page.goto(postureAt('/notifications'));
    const { id } = await addWebhook(page, name, 'https://hook.example');
    const rule = await call<{ id: string }>(page, 'POST', '/v1/notification-rules', {
      name: `Rule of ${name}`,
      enabled: false,
      channelIds: [id],
    });
    await page.reload();
    await row(page, name)
      .getByRole('button', { name: `Delete ${name}`, exact: true })
      .click();
    const dialog = page.getByRole('dialog', { name: `Delete ${name}` });
    await expect(dialog).toContainText(`Rule of ${name} sends to it.`);
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(dialog.getByRole('alert')).toBeVisible();
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
    await row(page, name)
      .getByRole('link', { name: `1 rule of ${name}`, exact: true })
      .click();
    await expect(page).toHaveURL(new RegExp(`/notifications/rules\\?channel=${id}`));
    await expect(page.locator('tbody tr')).toHaveCount(1);
    await call(page, 'DELETE', `/v1/notification-rules/${rule.id}`);
    await call(page, 'DELETE', `/v1/notification-channels/${id}`);
  });

  test('somebody else changes a notification rule meanwhile, and both versions are shown', async ({ posture: page }) => {
    const name = unique('Contested');
    await page.goto(postureAt('/notifications'));
    const channel = await addWebhook(page, `Channel of ${name}`, 'https://hook.example');
    const rule = await call<{ id: string; eTag: string }>(page, 'POST', '/v1/notification-rules', {
      name,
      enabled: false,
      channelIds: [channel.id],
    });
    await page.goto(postureAt('/notifications/rules'));
    await row(page, name).getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Change ${name}` });
    await dialog.getByLabel('Risk at least').fill('70');
    await call(
      page,
      'PUT',
      `/v1/notification-rules/${rule.id}`,
      { name, enabled: false, minRiskScore: 20, channelIds: [channel.id] },
      rule.eTag,
    );
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('dialog', { name: 'Someone else saved a change' });
    await expect(conflict.getByRole('row', { name: /Risk/ })).toContainText('20');
    await conflict.getByRole('button', { name: 'Save mine', exact: true }).click();
    await expect(row(page, name)).toContainText('70 and more');
    await remove(page, name);
    await call(page, 'DELETE', `/v1/notification-channels/${channel.id}`);
  });
});

test('a rule is written with filters, switched off and deleted', async ({ posture: page }) => {
  const name = unique('Filtered');
  await page.goto(postureAt('/notifications'));
  const channel = await addWebhook(page, `Channel of ${name}`, 'https://hook.example');
  await page.goto(postureAt('/notifications/rules?new=yes'));
  const dialog = page.getByRole('dialog', { name: 'New notification rule' });
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(dialog.getByLabel('Channels', { exact: true })).toHaveAccessibleDescription('Choose a channel.');
  await dialog.getByLabel('Channels', { exact: true }).fill(`Channel of ${name}`);
  await expect(dialog.getByRole('list', { name: 'Channels, chosen' })).toContainText(name);
  await dialog.getByLabel('A finding is resolved').check();
  await dialog.getByLabel('Low', { exact: true }).uncheck();
  await dialog.getByLabel('Risk at least').fill('80');
  await dialog.getByLabel('Tags', { exact: true }).fill('env=prod');
  await dialog.getByLabel('Tags', { exact: true }).press('Enter');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  for (const part of ['raised, resolved', 'High, Medium', '80 and more', 'env=prod', `Channel of ${name}`])
    await expect(row(page, name)).toContainText(part);
  const toggle = row(page, name).getByRole('switch');
  await toggle.click();
  await expect(toggle).toHaveAttribute('aria-checked', 'false');
  await expect(row(page, name)).toContainText('80 and more');
  await remove(page, name);
  await call(page, 'DELETE', `/v1/notification-channels/${channel.id}`);
});

test('a rule for account events has no filters of findings', async ({ posture: page }) => {
  await page.goto(postureAt('/notifications/rules?new=yes'));
  const dialog = page.getByRole('dialog', { name: 'New notification rule' });
  await expect(dialog.getByLabel('Risk at least')).toBeVisible();
  await dialog.getByLabel('A finding is raised').uncheck();
  await dialog.getByLabel('A collection fails').check();
  await expect(dialog.getByLabel('Risk at least')).toHaveCount(0);
  await expect(dialog).toContainText('these events are about accounts');
});

test('a message that was given up is seen, sent again and delivered', async ({ posture: page }) => {
  test.setTimeout(240_000);
  const receiver = await receive(400); // after 400, unlike most errors, a message is not retried
  const name = unique('Broken');
  await page.goto(postureAt('/notifications'));
  const channel = await addWebhook(page, name, receiver.url);
  const query = { inventoryQueryType: 'Graph', queryString: "g.V().hasLabel('AWS.EC2.Instance').limit(2)" };
  // The rule is disabled until its notification rule exists, because findings that were raised before would send no message.
  const rule = await call<{ id: string; eTag: string }>(page, 'POST', '/v1/rules', {
    name,
    displayName: name.replaceAll(' ', '-').toLowerCase(),
    provider: 'aws',
    level: 'Low',
    status: 'Disabled',
    query: JSON.stringify(query),
  });
  const notificationRule = await call<{ id: string }>(page, 'POST', '/v1/notification-rules', {
    name: `Rule of ${name}`,
    events: ['FindingRaised'],
    ruleIds: [rule.id],
    channelIds: [channel.id],
  });
  await page.goto(postureAt(`/rules?q=${encodeURIComponent(name)}`));
  await row(page, name).getByRole('switch').click();
  await expect(row(page, name).getByRole('switch')).toHaveAttribute('aria-checked', 'true'); // leaving earlier would cancel the request
  await page.goto(postureAt(`/notifications/deliveries?state=Dead&channel=${channel.id}`));
  await expect(row(page, name)).toContainText('Given up', { timeout: 120_000 });
  await expect(row(page, name)).toContainText('400');
  await page
    .getByRole('navigation', { name: 'Notifications' })
    .getByRole('link', { name: /^Channels/ })
    .click();
  await expect(row(page, name)).toContainText('Fails');
  await row(page, name)
    .getByRole('link', { name: /given up of/ })
    .click();
  receiver.status = 200;
  await row(page, name)
    .getByRole('button', { name: /^Send again/ })
    .click();
  await expect(page.getByText(`The message waits to be sent to ${name} again`)).toBeVisible();
  await page.getByRole('group', { name: 'State' }).getByRole('button', { name: 'Delivered', exact: true }).click();
  await expect(row(page, name).first()).toContainText('Delivered', { timeout: 60_000 });
  expect(receiver.bodies.at(-1)?.rule).toBe(`Rule of ${name}`);
  await call(page, 'DELETE', `/v1/notification-rules/${notificationRule.id}`);
  await call(page, 'DELETE', `/v1/notification-channels/${channel.id}`);
  await call(page, 'DELETE', `/v1/rules/${rule.id}`);
});

test('keyboard: add a channel and delete it', async ({ posture: page }) => {
  const name = unique('Keys');
  await page.goto(postureAt('/overview'));
  await expect(page.locator('.ledger')).toBeVisible();
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await expect(page.getByRole('heading', { name: 'Notifications' })).toBeVisible();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog', { name: 'New channel' });
  await expect(dialog.getByLabel('Name', { exact: true })).toBeFocused();
  await page.keyboard.type(name);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.type('https://hook.example');
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await row(page, name)
    .getByRole('button', { name: `Delete ${name}`, exact: true })
    .focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect(row(page, name)).toHaveCount(0);
});

test('an organisation without channels is told the next step', async ({ otherOrg: page }) => {
  await page.goto(postureAt('/notifications'));
  await expect(page.getByRole('heading', { name: 'No channels yet' })).toBeVisible();
  await page
    .getByRole('navigation', { name: 'Notifications' })
    .getByRole('link', { name: /^Rules/ })
    .click();
  await expect(page.getByText('Add a channel first.')).toBeVisible();
  await page.getByRole('navigation', { name: 'Notifications' }).getByRole('link', { name: 'Deliveries', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'No message was sent in the last 14 days' })).toBeVisible();
});

test('a viewer sees the channels, and which role it takes to change them', async ({ viewer: page }) => {
  await page.goto(postureAt('/notifications'));
  const button = page.getByRole('button', { name: 'New channel', exact: true }).first();
  await expect(button).toBeDisabled();
  await expect(button).toHaveAttribute('title', /admin/);
});
