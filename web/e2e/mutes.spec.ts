import type { Page } from '@playwright/test';
import { expect, postureAt, ready, test } from './fixtures';

/** Fills in the dialog. The resource must match no finding, so that the rule mutes no finding of another scenario. */
async function fill(page: Page, name: string, resource: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'New mute rule' });
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByLabel('Resources', { exact: true }).fill(resource);
  await dialog.getByLabel('Resources', { exact: true }).press('Enter');
  await dialog.getByLabel('Reason').fill('It is a sandbox.');
}

const unique = (what: string) => `${what} ${Date.now()} ${Math.random().toString(36).slice(2, 6)}`;

test('a mute rule shows what it would suppress, is made, ended and deleted', async ({ posture: page }) => {
  const name = unique('Sandbox');
  await page.goto(postureAt('/mute-rules'));
  await page.getByRole('button', { name: 'New mute rule', exact: true }).first().click();
  const dialog = page.getByRole('dialog', { name: 'New mute rule' });
  await expect(dialog).toContainText('Choose findings by rule, account, tag or resource');
  await expect(dialog.getByRole('button', { name: 'Mute', exact: true })).toBeDisabled();
  await fill(page, name, `nothing-is-named-${Date.now()}-*`);
  await expect(dialog.getByRole('region', { name: 'Preview' })).toContainText('0 open findings match now');
  await dialog.getByRole('button', { name: 'Mute', exact: true }).click();
  const row = page.locator('tbody tr', { hasText: name });
  await expect(row).toContainText('In force');
  await expect(row).toContainText('It is a sandbox.');
  await row.getByRole('button', { name: `End ${name}`, exact: true }).click();
  await expect(page.getByText(`${name} ends within ten seconds`)).toBeVisible();
  await expect(row).toContainText('Ended', { timeout: 60_000 });
  await page.getByLabel('Search mute rules').fill(name);
  await expect(page.locator('tbody tr')).toHaveCount(1);
  await row.getByRole('button', { name: `Delete ${name}`, exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByText('No mute rule matches').or(page.getByText('Nothing is muted'))).toBeVisible();
});

test('the preview counts the findings of a rule, and an unknown rule or a malformed tag shows an error', async ({ posture: page }) => {
  await page.goto(postureAt('/mute-rules?new=yes&rule=aws-ec2-metadata-theft'));
  const dialog = page.getByRole('dialog', { name: 'New mute rule' });
  await expect(dialog.getByRole('region', { name: 'Preview' })).toContainText(/[1-9]\d* open findings? match/);
  await expect(dialog.locator('.mute-preview .risk').first()).toBeVisible();
  await dialog.getByLabel('Rules', { exact: true }).fill('no such rule');
  await dialog.getByLabel('Rules', { exact: true }).press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('no such rule');
  await dialog.getByLabel('Tags', { exact: true }).fill('env');
  await dialog.getByLabel('Tags', { exact: true }).press('Enter');
  await expect(dialog.getByText('A tag is written name=value.')).toBeVisible();
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(page).toHaveURL(/\/mute-rules$/);
});

test.describe('somebody else', () => {
  test.use({ expectsFailedAnswers: true });

  test('changes a mute rule meanwhile, and both versions are shown', async ({ posture: page }) => {
    const name = unique('Contested');
    await page.goto(postureAt('/mute-rules?new=yes'));
    await fill(page, name, `nothing-is-named-${Date.now()}-*`);
    await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click();
    const row = page.locator('tbody tr', { hasText: name });
    await row.getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Change ${name}` });
    await dialog.getByLabel('Reason').fill('Mine.');
    const session = (await (await page.request.get(`${ready().posture_url}/console/session`)).json()) as { csrfToken: string };
    const headers = { 'X-CSRF-Token': session.csrfToken, Origin: ready().posture_url };
    const list = (await (await page.request.get(`${ready().posture_url}/v1/mute-rules`)).json()) as {
      results: { id: string; name: string; eTag: string; scope: object }[];
    };
    const stored = list.results.find((m) => m.name === name);
    const put = await page.request.put(`${ready().posture_url}/v1/mute-rules/${stored?.id}`, {
      data: { name, reason: 'Theirs.', scope: stored?.scope },
      headers: { ...headers, 'If-Match': `"${stored?.eTag}"` },
    });
    expect(put.status(), await put.text()).toBe(200);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    const conflict = page.getByRole('dialog', { name: 'Someone else saved a change' });
    await expect(conflict).toContainText('Theirs.');
    await conflict.getByRole('button', { name: 'Save mine', exact: true }).click();
    await expect(row).toContainText('Mine.');
    await row.getByRole('button', { name: `Delete ${name}`, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(row).toHaveCount(0);
  });
});

test('a viewer sees what is muted, and which role it takes to change it', async ({ viewer: page }) => {
  await page.goto(postureAt('/mute-rules'));
  const button = page.getByRole('button', { name: 'New mute rule', exact: true }).first();
  await expect(button).toBeDisabled();
  await expect(button).toHaveAttribute('title', /analyst/);
});

test('a finding leads to a new mute rule for similar findings', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  await page.getByRole('button', { name: 'More actions', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Mute similar findings', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'New mute rule' }).getByRole('region', { name: 'Preview' })).toContainText(
    /open findings? match/,
  );
});
