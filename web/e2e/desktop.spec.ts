import { desktopAt, expect, test } from './fixtures';

test('the health map shows the five stages of a connection', async ({ desktop: page }) => {
  await page.goto(desktopAt('/health'));
  await expect(page.locator('.stage')).toHaveCount(5);
  await expect(page.locator('.stage-head').first()).toContainText('6 of 6 OK');
});

test('the wall shows every farm, and one opens beside it', async ({ desktop: page }) => {
  await page.goto(desktopAt('/rds-servers'));
  await expect(page.locator('.wall-farm')).toHaveCount(51);
  await page.locator('.wall-farm').nth(1).click();
  await expect(page.locator('.panel').getByRole('heading', { name: 'Servers' })).toBeVisible();
  expect(page.url()).toContain('farm=');
});

test('a component opens beside its list', async ({ desktop: page }) => {
  await page.goto(desktopAt('/connection-servers'));
  await page.locator('tbody tr a').first().click();
  await expect(page.locator('.panel').getByRole('heading', { name: 'Replication' })).toBeVisible();
});

test('a domain account is added, and the same one again is refused', async ({ desktop: page }) => {
  await page.goto(desktopAt('/domain-accounts'));
  const add = async () => {
    await page.getByRole('button', { name: /^Add/ }).first().click();
    await page.getByLabel('User name').fill('clone-joiner');
    await page.getByLabel('Password').fill('not tried');
    await page.getByLabel('Try it with the domain first').uncheck();
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  };
  await add();
  await expect(page.getByRole('rowheader', { name: 'clone-joiner' })).toBeVisible();
  await add();
  await expect(page.getByRole('alert')).toBeVisible();
});
