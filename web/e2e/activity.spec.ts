import { expect, postureAt, settled, test } from './fixtures';

// The simulated clouds change resources continuously and send events about the changes.
test.describe('changes', () => {
  test.use({ expectsFailedAnswers: true }); // requests for a resource that was deleted meanwhile get 404

  test('activity shows which resource changed, how, and leads to it', async ({ posture: page }) => {
    await page.goto(postureAt('/activity?show=changes'));
    const row = page.locator('tbody tr', { hasText: /Added|Changed|Deleted/ }).first();
    await expect(row).toBeVisible({ timeout: 60_000 });
    // AWS events say who made the call, in which role, and which call.
    await expect(page.locator('tbody tr', { hasText: /operator as admin · [A-Z]\w+/ }).first()).toBeVisible({ timeout: 60_000 });
    await row.locator('th a').first().click();
    await expect(page).toHaveURL(/\/resource\//);
    await expect(page.getByRole('heading', { name: 'Changes' })).toBeVisible();
  });
});

test('a change that raised a finding leads to the finding', async ({ posture: page }) => {
  await page.goto(postureAt('/activity'));
  const link = page.getByRole('link', { name: /^raised \d+ finding/ }).first();
  await expect(link).toBeVisible({ timeout: 60_000 });
  await link.click();
  await expect(page.locator('.drawer')).toBeVisible();
});

test('activity keeps filters and range in the address', async ({ posture: page }) => {
  await page.goto(postureAt('/activity'));
  await settled(page);
  await page.getByLabel('Account').selectOption({ label: 'aws-demo-1' });
  await page.getByRole('button', { name: '24 hours', exact: true }).click();
  await expect(page).toHaveURL(/account=.*range=1d/);
  await page.reload();
  await expect(page.getByRole('button', { name: '24 hours', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByLabel('Account')).not.toHaveValue('');
});

test('the arrow keys move the range of the activity, and an empty range says that nothing happened', async ({ posture: page }) => {
  await page.goto(postureAt('/activity?show=changes&range=1d'));
  await settled(page);
  await page.keyboard.press('ArrowLeft');
  await expect(page).toHaveURL(/from=/);
  await expect(page.getByRole('heading', { name: /^Nothing happened between/ })).toBeVisible();
  await page.getByRole('button', { name: '7 days', exact: true }).click();
  await expect(page).not.toHaveURL(/from=/);
});
