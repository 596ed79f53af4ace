import type { Page } from '@playwright/test';
import { expect, postureAt, ready, test } from './fixtures';

/** Links an account by filling in its fields instead of running the script, and waits until it was read for the first time. */
async function link(page: Page, provider: string, fields: Record<string, string>, name: string): Promise<void> {
  await page.goto(postureAt(`/accounts/link/${provider}/access?way=hand`));
  await page.getByLabel('Name', { exact: true }).fill(name);
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
  await page.getByRole('button', { name: 'Link the account', exact: true }).click();
  await expect(page.getByRole('heading', { name: `${name} can be read` })).toBeVisible({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Go on', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Receive changes as they happen' })).toBeVisible();
  await page.getByRole('button', { name: /Later|Go on/ }).click();
  await expect(page.getByRole('heading', { name: 'First read' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'See its findings', exact: true })).toBeVisible({ timeout: 90_000 });
}

/** Deletes an account, so that the scenario can run again. */
async function unlink(page: Page, id: string, name: string): Promise<void> {
  await page.goto(postureAt(`/accounts/${encodeURIComponent(id)}?tab=settings`));
  await page.getByRole('button', { name: 'Delete the account', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Delete', exact: true })).toBeDisabled();
  await dialog.getByLabel(/Type/).fill(name);
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page).toHaveURL(/\/accounts$/);
}

test('R reads the account of the focused row', async ({ posture: page }) => {
  let read = '';
  await page.route('**/collections', (route) => {
    read = route.request().url();
    return route.fulfill({ status: 202, json: { collectionId: 'x' } });
  });
  await page.goto(postureAt('/accounts'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.keyboard.press('j');
  // Other scenarios link and delete accounts, so the focused row can be that of any account.
  const account = await page.locator('tr:focus-within').getAttribute('data-account');
  await page.keyboard.press('r');
  await expect(page.getByText('Reading the account')).toBeVisible();
  expect(read).toContain(`/cloud-accounts/${account}/collections`);
});

// Each scenario links and deletes the only spare account of AWS, so they run one after the other.
test.describe('AWS', () => {
  test.describe.configure({ mode: 'serial' });

  test('an account is linked by the wizard, read and deleted', async ({ posture: page }) => {
    const { sim } = ready();
    await link(
      page,
      'aws',
      { 'Account id': sim.aws_account_id ?? '', 'ARN of the role': sim.aws_role_arn ?? '', 'External id': sim.aws_external_id ?? '' },
      'aws-spare',
    );
    await page.getByRole('link', { name: 'The account', exact: true }).click();
    await expect(page.getByText('types read completely')).toBeVisible();
    await unlink(page, sim.aws_account_id ?? '', 'aws-spare');
  });

  test('a role without permission to read is reported, and its credential can be checked again', async ({ posture: page }) => {
    const { sim } = ready();
    await page.goto(postureAt('/accounts/link/aws/access?way=hand'));
    await page.getByLabel('Name', { exact: true }).fill('aws-denied');
    await page.getByLabel('Account id').fill(sim.aws_account_id ?? '');
    await page.getByLabel('ARN of the role').fill(sim.aws_denied_role_arn ?? '');
    await page.getByLabel('External id').fill(sim.aws_external_id ?? '');
    await page.getByRole('button', { name: 'Link the account', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'aws-denied cannot be read' })).toBeVisible({ timeout: 60_000 });
    await page.goto(postureAt(`/accounts/${sim.aws_account_id}`));
    await page.getByRole('button', { name: 'Check the credential now', exact: true }).click();
    await expect(page.getByText('Checking the credential')).toBeVisible();
    await unlink(page, sim.aws_account_id ?? '', 'aws-denied');
  });
});

test('a subscription of Azure is linked by the wizard, read and deleted', async ({ posture: page }) => {
  const { sim } = ready();
  await link(
    page,
    'azure',
    {
      'Subscription id': sim.azure_subscription_id ?? '',
      'Directory (tenant) id': sim.azure_tenant_id ?? '',
      'Application (client) id': sim.azure_application_id ?? '',
      'Client secret': sim.azure_application_key ?? '',
    },
    'azure-spare',
  );
  // Hold the request for the settings until the account is deleted; then it would get 404. The page must cancel it.
  const deletion = page.waitForResponse((r) => r.request().method() === 'DELETE');
  await page.route('**/collection-settings', async (route) => {
    await deletion;
    await route.continue().catch(() => undefined); // fails for a cancelled request
  });
  await unlink(page, sim.azure_subscription_id ?? '', 'azure-spare');
});

test('a project of Google Cloud is linked by the wizard, read and deleted', async ({ posture: page }) => {
  const { sim } = ready();
  await link(
    page,
    'gcp',
    {
      'Project id': sim.gcp_project_id ?? '',
      'E-mail of the service account': sim.gcp_service_account_email ?? '',
      'Key of the service account': sim.gcp_service_account_key ?? '',
    },
    'gcp-spare',
  );
  // Hold the answer to DELETE until the page, told of the deletion by the event stream, has requested the list of accounts.
  // Meanwhile, the page must not request the deleted account.
  await page.route('**/v1/providers/gcp/cloud-accounts/*', async (route) => {
    if (route.request().method() !== 'DELETE') return route.continue();
    const listRequest = page.waitForRequest((r) => r.url().endsWith('/v1/cloud-accounts/query'));
    const answer = await route.fetch();
    await listRequest;
    await route.fulfill({ response: answer });
  });
  await unlink(page, sim.gcp_project_id ?? '', 'gcp-spare');
});

test.describe('an invalid field', () => {
  test.use({ expectsFailedAnswers: true });
  test('has the error beside it', async ({ posture: page }) => {
    await page.goto(postureAt('/accounts/link/aws/access?way=hand'));
    await page.getByLabel('Name', { exact: true }).fill('wrong');
    await page.getByLabel('Account id').fill('12');
    await page.getByLabel('ARN of the role').fill('nonsense');
    await page.getByRole('button', { name: 'Link the account', exact: true }).click();
    await expect(page.getByRole('alert').first()).toBeVisible();
  });
});

for (const provider of ['aws', 'azure', 'gcp']) {
  test(`the wizard shows how a script links an account of ${provider}, and how to undo it`, async ({ posture: page }) => {
    await page.goto(postureAt(`/accounts/link/${provider}/access`));
    await expect(page.getByLabel('Commands')).toContainText(`/scripts/${provider}/link.sh`);
    await page.getByRole('button', { name: 'Read the script', exact: true }).click();
    await expect(page.getByLabel('Script', { exact: true })).toContainText('#!');
    await expect(page.getByRole('link', { name: 'How to undo it', exact: true })).toBeVisible();
  });
}

test('accounts are filtered and searched', async ({ posture: page }) => {
  await page.goto(postureAt('/accounts'));
  await page.getByRole('group', { name: 'Accounts' }).getByRole('button', { name: /^AWS/ }).click();
  await expect(page).toHaveURL(/status=aws/);
  await page.getByLabel('Search accounts').fill('demo-2');
  await expect(page.locator('tbody tr')).toHaveCount(1);
});

test('a run of an account lists what it read', async ({ posture: page }) => {
  await page.goto(postureAt('/accounts'));
  await page.getByRole('link', { name: /gcp-demo-1/ }).click();
  await expect(page.getByText('types read completely')).toBeVisible();
});

test('an account is read now, and the run is followed', async ({ posture: page }) => {
  await page.goto(postureAt('/accounts'));
  await page.getByRole('link', { name: /gcp-demo-2/ }).click();
  await expect(page.getByText('types read completely')).toBeVisible();
  await page.getByRole('button', { name: 'Read now', exact: true }).click();
  await expect(page.getByText(/Reading the account|already/).first()).toBeVisible();
});

for (const tab of ['Stream', 'Credential', 'Settings']) {
  test(`the tab ${tab} of an account is in the address`, async ({ posture: page }) => {
    await page.goto(postureAt('/accounts'));
    await page.getByRole('link', { name: /aws-demo-1/ }).click();
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: tab, exact: true }).click();
    await expect(page).toHaveURL(new RegExp(`tab=${tab.toLowerCase()}`));
    await expect(page.getByRole('navigation', { name: 'Account' }).locator('[aria-current]')).toHaveText(tab);
    await expect(page.locator('main')).toContainText({ Stream: 'Endpoint', Credential: 'RoleArn', Settings: 'Environment' }[tab] ?? '');
  });
}

test('the settings of an account are changed', async ({ posture: page }) => {
  await page.goto(postureAt('/accounts'));
  await page.getByRole('link', { name: /azure-demo-2/ }).click();
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByLabel('Environment').fill('trial');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  await expect(page.locator('.meta')).toContainText('trial');
});

test('a viewer sees the button to link an account disabled, with the required role', async ({ viewer: page }) => {
  await page.goto(postureAt('/accounts'));
  const button = page.getByRole('button', { name: 'Link an account', exact: true });
  await expect(button).toBeDisabled();
  await expect(button).toHaveAttribute('title', /admin/);
});

test('a user is added, changed, and deleted after typing the name', async ({ posture: page }, info) => {
  const name = `Someone ${info.workerIndex} ${Date.now()}`;
  await page.goto(postureAt('/admin/users'));
  await page.getByRole('button', { name: 'New user', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  const row = page.locator('tr', { hasText: name });
  await expect(row).toContainText('never'); // in the column "Last seen"
  await row.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Role').selectOption('analyst');
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await expect(row).toContainText('analyst');
  await row.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByLabel(/Type/).fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(row).toHaveCount(0);
});

test('a token is made, shown once, and revoked', async ({ posture: page }, info) => {
  const name = `token ${info.workerIndex} ${Date.now()}`;
  await page.goto(postureAt('/admin/tokens'));
  await page.getByRole('button', { name: 'New token', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('dialog').locator('.secret')).not.toBeEmpty();
  await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
  const row = page.locator('tr', { hasText: name });
  await row.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(row).toHaveCount(0);
});

test.describe('a token that the server refuses', () => {
  test.use({ expectsFailedAnswers: true });
  test('has the error beside the field until it is sent again', async ({ posture: page }) => {
    const answers = [
      {
        status: 400,
        json: { message: 'expiryTime: must lie in the future', errors: [{ path: 'expiryTime', message: 'must lie in the future' }] },
      },
      { status: 403, json: { message: 'your token is limited to scopes' } },
    ];
    await page.route('**/v1/api-tokens', (route) =>
      route.request().method() === 'POST' ? route.fulfill(answers.shift() ?? { status: 500 }) : route.continue(),
    );
    await page.goto(postureAt('/admin/tokens'));
    await page.getByRole('button', { name: 'New token', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const create = dialog.getByRole('button', { name: 'Create', exact: true });
    await dialog.getByLabel('Name').fill('refused');
    await create.click();
    await expect(dialog.getByRole('alert')).toHaveText('must lie in the future');
    await expect(dialog.getByLabel('Expires')).toHaveAttribute('aria-invalid', 'true');
    await create.click();
    await expect(dialog.getByRole('alert')).toHaveText('Your token is limited to scopes');
    await expect(dialog.getByLabel('Expires')).toHaveAttribute('aria-invalid', 'false');
  });
});

test("one's sessions are listed", async ({ posture: page }) => {
  await page.goto(postureAt('/admin/sessions'));
  await expect(page.getByText('this one')).toBeVisible();
});

test('the audit is filtered by outcome and text', async ({ posture: page }) => {
  await page.goto(postureAt('/admin/audit'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.getByRole('button', { name: 'Success', exact: true }).click();
  await expect(page).toHaveURL(/outcome=success/);
  await page.getByLabel('Search the audit').fill('no such operation');
  await expect(page.getByText('No record matches')).toBeVisible();
});

test('a target in the audit log leads to all records about this target', async ({ posture: page, api }) => {
  const made = await api.post('/v1/api-tokens', { data: { name: 'for the audit', role: 'viewer' } });
  const { id } = (await made.json()) as { id: string };
  await api.delete(`/v1/api-tokens/${id}`);
  await page.goto(postureAt('/admin/audit'));
  await page.getByRole('button', { name: id, exact: true }).first().click();
  await expect(page).toHaveURL(/target=/);
  await expect(page.locator('tbody tr')).toHaveCount(2); // one about its creation, one about its deletion
  for (const row of await page.locator('tbody tr').all()) await expect(row).toContainText(id);
  await page.getByRole('button', { name: 'Remove target', exact: true }).click();
  await expect(page).not.toHaveURL(/target=/);
});

test.describe('collection settings', () => {
  test.use({ expectsFailedAnswers: true });

  test('the schedule and the regions of an account are set', async ({ posture: page }) => {
    await page.goto(postureAt('/accounts'));
    await page
      .getByRole('link', { name: /azure-demo-1/ })
      .first()
      .click();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByLabel('Schedule').selectOption({ label: 'Every 6 hours' });
    await page.getByLabel('Regions', { exact: true }).fill('west europe');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save collection settings', exact: true }).click();
    await expect(page.getByText(/west europe: must be the name of a region/)).toBeVisible();
    await page.getByRole('button', { name: 'Remove west europe', exact: true }).click();
    await page.getByRole('button', { name: 'Save collection settings', exact: true }).click();
    await expect(page.getByText('Saved', { exact: true })).toBeVisible();
    await page.reload();
    await expect(page.getByLabel('Schedule')).toHaveValue('6');
    await page.getByLabel('Schedule').selectOption('');
    await page.getByRole('button', { name: 'Save collection settings', exact: true }).click();
    await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  });
});
