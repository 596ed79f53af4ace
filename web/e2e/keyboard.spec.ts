import { desktopAt, expect, postureAt, test } from './fixtures';

// Whole tasks without a pointer.

test('keyboard: find a critical finding, read it, and open its resource', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  await expect(page.locator('.ledger .figure').nth(1)).toHaveText(/^\d/);
  await page.keyboard.press('2');
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page.locator('.drawer')).toBeVisible();
  await expect(page.locator('.drawer').getByRole('heading', { name: 'Risk' })).toBeVisible();
  await page.keyboard.press('o');
  await expect(page.getByRole('heading', { name: 'Properties' })).toBeVisible();
});

test('keyboard: suppress a finding and undo it', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=Medium&provider=azure'));
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('s');
  await expect(page.getByRole('dialog')).toBeVisible();
  await page.keyboard.type('Known');
  await page.keyboard.press('Tab');
  // Press Tab until the button has the focus, at most six times more.
  const suppress = page.getByRole('dialog').getByRole('button', { name: 'Suppress', exact: true });
  const hasFocus = () => suppress.evaluate((b) => b === document.activeElement);
  for (let i = 0; i < 6 && !(await hasFocus()); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByText('1 finding suppressed')).toBeVisible();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('1 finding released')).toBeVisible();
});

test('keyboard: switch a rule off and on again', async ({ posture: page }) => {
  await page.goto(postureAt('/rules?q=aws-cloudfront'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.keyboard.press('j');
  const toggle = page.locator('tbody tr.on').getByRole('switch');
  await expect(toggle).toHaveAttribute('aria-checked', 'true');
  await page.keyboard.press('Space');
  await expect(toggle).toHaveAttribute('aria-checked', 'false');
  await page.keyboard.press('Space');
  await expect(toggle).toHaveAttribute('aria-checked', 'true');
});

test('keyboard: write a query and run it', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  await expect(page.locator('.ledger')).toBeVisible();
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.getByRole('textbox', { name: 'Query' }).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('g.V().limit(2)');
  await page.keyboard.press('Control+Enter');
  await expect(page.locator('.table tbody tr').first()).toBeVisible();
});

test('keyboard: from the map to a server on the wall and back', async ({ desktop: page }) => {
  await page.goto(desktopAt('/health'));
  await expect(page.locator('.stage')).toHaveCount(5);
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await expect(page.locator('.wall-farm rect').first()).toBeAttached(); // farms are drawn before their servers
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.tile-chosen')).toBeAttached();
  await page.keyboard.press('Enter');
  await expect(page.locator('.panel')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('.panel')).toHaveCount(0);
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await expect(page.locator('.stage')).toHaveCount(5);
});

test('a drawer gives the focus back to its row', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await page.locator('.finding-link').nth(2).focus();
  await page.keyboard.press('Enter');
  await expect(page.locator('.drawer')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('.finding-link').nth(2)).toBeFocused();
});
