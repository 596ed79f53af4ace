import type { Page } from '@playwright/test';
import { expect, logIn, postureAt, ready, settled, test } from './fixtures';

/** Buttons that change something: the screen, the name, and the role that they require. */
const restricted: [screen: string, name: string | RegExp, role: string][] = [
  ['/rules', 'New rule', 'analyst'],
  ['/mute-rules', 'New mute rule', 'analyst'],
  ['/compliance', 'New', 'analyst'],
  ['/notifications', 'New channel', 'admin'],
  ['/notifications/rules', 'New rule', 'admin'],
  ['/accounts', 'Link an account', 'admin'],
  ['/accounts?plan=edit', 'Save', 'admin'],
  ['/rules/new', 'Save and enable', 'analyst'],
];

async function expectDisabled(page: Page, name: string | RegExp, why: RegExp): Promise<void> {
  const button = page.getByRole('button', { name, exact: true }).first();
  await expect(button).toBeDisabled();
  await expect(button).toHaveAttribute('title', why);
}

for (const [screen, name, role] of restricted)
  test(`a viewer sees "${name}" on ${screen} disabled, with the required role`, async ({ viewer: page }) => {
    await page.goto(postureAt(screen));
    await expectDisabled(page, name, new RegExp(`Requires the role ${role}`));
  });

const limitedReason = /limited to some cloud accounts/;

test('a limited analyst sees the findings of the own account only, and may suppress them', async ({ limited: page }) => {
  await page.goto(postureAt('/findings'));
  await settled(page);
  await expect(page.getByRole('checkbox', { name: /aws-demo-1/ })).toBeVisible();
  await expect(page.getByRole('checkbox', { name: /aws-demo-2/ })).toHaveCount(0);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: /^Suppress/ })).toBeEnabled();
  await page.getByRole('button', { name: 'More actions', exact: true }).click();
  const mute = page.getByRole('menuitem', { name: 'Mute similar findings', exact: true });
  await expect(mute).toBeDisabled();
  await expect(mute).toHaveAttribute('title', limitedReason);
});

for (const [screen, name] of restricted.filter(([, , role]) => role === 'analyst'))
  test(`a limited analyst sees "${name}" on ${screen} disabled, because it concerns the whole organisation`, async ({ limited: page }) => {
    await page.goto(postureAt(screen));
    await expectDisabled(page, name, limitedReason);
  });

test('a limited analyst may not switch a rule', async ({ limited: page }) => {
  await page.goto(postureAt('/rules'));
  const toggle = page.getByRole('switch').first();
  await expect(toggle).toBeDisabled();
  await expect(toggle).toHaveAttribute('title', limitedReason);
});

test('a limited analyst gets no error on the screens that show accounts', async ({ limited: page }) => {
  for (const screen of ['/overview', '/inventory', '/activity', '/compliance', '/accounts']) {
    await page.goto(postureAt(screen));
    await settled(page);
    await expect(page.getByRole('alert')).toHaveCount(0);
  }
});

test.describe('a token with scopes', () => {
  test.use({ expectsFailedAnswers: true }); // lists that it may not read are refused
  let tokenId: string | undefined;
  test.afterEach(async ({ api }) => {
    if (tokenId) await api.delete(`/v1/api-tokens/${tokenId}`);
    tokenId = undefined;
  });

  test('disables the buttons that its scopes forbid, and they say so', async ({ page, api }) => {
    const made = await api.post('/v1/api-tokens', {
      data: { name: 'scoped', role: 'admin', scopes: ['accounts', 'console', 'entities', 'findings', 'rules'] },
    });
    const { id, token } = (await made.json()) as { id: string; token: string };
    tokenId = id;
    await logIn(page, { apiToken: token }, ready().posture_url);
    await page.goto(postureAt('/accounts'));
    await expect(page.getByRole('button', { name: 'Link an account', exact: true })).toBeEnabled();
    await page.goto(postureAt('/notifications'));
    await expectDisabled(page, 'New channel', /limited to .*; this requires administration/);
  });
});

test('an administrator changes the schedule of the organisation', async ({ posture: page }) => {
  await page.goto(postureAt('/accounts'));
  await page.getByRole('button', { name: /^Schedule: every/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Schedule of the organisation' });
  const choice = dialog.getByLabel('All accounts are collected');
  const before = await choice.inputValue();
  await choice.selectOption('48');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Schedule: every 2 days', exact: true })).toBeVisible();
  await page.getByRole('button', { name: /^Schedule/ }).click();
  await dialog.getByLabel('All accounts are collected').selectOption(before);
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(dialog).toHaveCount(0);
});
