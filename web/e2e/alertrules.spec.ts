import { desktopAt, expect, test } from './fixtures';

test('statuses of an alert rule are chosen one by one, and all its channels are edited', async ({ desktop: page }) => {
  const rule = {
    id: 'r1',
    name: 'Two channels',
    enabled: true,
    condition: { type: 'STATUS', statuses: ['ERROR'] },
    for_seconds: 90,
    repeat_seconds: 0,
    channels: [
      { type: 'WEBHOOK', url: 'https://hooks.example/a' },
      { type: 'MAIL', to: ['ops@corp.example'] },
    ],
  };
  let saved: typeof rule | undefined; // what the last PUT sent
  await page.route('**/rest/config/v1/alert-rules/r1', (route) => {
    if (route.request().method() === 'PUT') saved = route.request().postDataJSON() as typeof rule;
    return route.fulfill({ json: saved ?? rule });
  });
  await page.goto(desktopAt('/alert-rules/r1'));
  await expect(page.getByRole('group', { name: 'Channel 1' }).getByLabel('Address of the webhook')).toHaveValue('https://hooks.example/a');
  const second = page.getByRole('group', { name: 'Channel 2' });
  await second.getByLabel('Addresses').fill('ops@corp.example, night@corp.example');
  await page.getByRole('button', { name: 'Add a channel', exact: true }).click();
  const third = page.getByRole('group', { name: 'Channel 3' });
  await third.getByLabel('Also notify by').selectOption('mail');
  await third.getByLabel('Addresses').fill('head@corp.example');
  await page.getByRole('button', { name: 'Remove channel 1', exact: true }).click();
  await expect(third).toHaveCount(0);
  const field = page.getByLabel('Statuses', { exact: true });
  await field.pressSequentially('warning'); // begins with the name of another status, "warn"
  await field.press('Enter');
  await field.press('Enter'); // does not submit the form
  await field.pressSequentially('agent_busy,');
  await expect(page.getByText('Alerts when the status of any component is error, warning or agent busy.')).toBeVisible();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page).toHaveURL(/\/alerts$/);
  expect(saved?.condition.statuses).toEqual(['ERROR', 'WARNING', 'AGENT_BUSY']);
  expect(saved?.channels).toEqual([
    { type: 'MAIL', to: ['ops@corp.example', 'night@corp.example'] },
    { type: 'MAIL', to: ['head@corp.example'] },
  ]);
  await page.goBack(); // opened again, the rule is as it was saved
  await expect(page.getByText('Alerts when the status of any component is error, warning or agent busy.')).toBeVisible();
});

test('a rule about certificates is saved with the days that the form shows', async ({ desktop: page }) => {
  let saved: { condition: { days?: number } } | undefined; // what the POST sent
  await page.route('**/rest/config/v1/alert-rules', (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    saved = route.request().postDataJSON() as typeof saved;
    return route.fulfill({ status: 201, json: { id: 'r1' } });
  });
  await page.goto(desktopAt('/alert-rules/new'));
  await page.getByLabel('Name', { exact: true }).fill('Certificates');
  await page.getByLabel('Alerts on', { exact: true }).selectOption('CERTIFICATE');
  await expect(page.getByLabel('Days before it expires', { exact: true })).toHaveValue('30');
  await page.getByLabel('Address of the webhook').fill('https://hooks.example/a');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page).toHaveURL(/\/alerts$/);
  expect(saved?.condition.days).toBe(30);
});

test.describe('a channel that the server refuses', () => {
  test.use({ expectsFailedAnswers: true });

  test('has the reason beside it', async ({ desktop: page }) => {
    await page.goto(desktopAt('/alert-rules/new'));
    await page.getByLabel('Name', { exact: true }).fill('Refused');
    await page.getByRole('group', { name: 'Channel 1' }).getByLabel('Address of the webhook').fill('https://hooks.example/a');
    await page.getByRole('button', { name: 'Add a channel', exact: true }).click();
    await page.getByRole('group', { name: 'Channel 2' }).getByLabel('Address of the webhook').fill('hooks.example');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByRole('group', { name: 'Channel 2' }).getByRole('alert')).toContainText('must be an http or https address');
    await expect(page.getByRole('group', { name: 'Channel 1' }).getByRole('alert')).toHaveCount(0);
  });
});

for (const kind of ['connection-servers', 'domains'])
  test(`a component of ${kind} opens beside its list`, async ({ desktop: page }) => {
    await page.goto(desktopAt(`/${kind}`));
    await page.locator('tbody th a').first().click();
    await expect(page.locator('.panel').getByRole('heading', { name: 'Status' })).toBeVisible();
    const list = await page.locator('.kind-list').boundingBox();
    const panel = await page.locator('.panel').boundingBox();
    expect(panel?.y).toBe(list?.y);
    expect(panel?.x).toBeGreaterThan(list?.x ?? 0);
  });
