import { check } from './axe';
import { dialogs } from './dialogs';
import { desktopAt, expect, logInTo, postureAt, test } from './fixtures';
import { panels } from './screens';

test.describe.configure({ timeout: 300_000 }); // for the same reason as in axe.spec.ts

// What lies above or beside a screen: drawers, panels, tabs, menus and dialogs.

test('axe finds nothing on a finding and its resource', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  await expect(page.locator('.drawer .path').first()).toBeVisible();
  await check(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('link', { name: 'Open resource', exact: true }).click();
  await expect(page.locator('.graph-card.me')).toBeVisible();
  await check(page);
});

test('axe finds nothing on an account', async ({ posture: page }) => {
  await page.goto(postureAt('/accounts'));
  await page.getByRole('link', { name: /aws-demo-1/ }).click();
  await expect(page.getByText('types read completely')).toBeVisible();
  await check(page);
});

/** Panels beside a list of the desktop. */
for (const kind of panels) {
  test(`axe finds nothing on the panel of ${kind}`, async ({ desktop: page }) => {
    await page.goto(desktopAt(`/${kind}`));
    await page.locator('tbody th a').first().click();
    await expect(page.locator('.panel').getByRole('heading', { name: 'Status' })).toBeVisible();
    if (kind === 'farms') await expect(page.locator('.panel .line-chart')).toBeVisible();
    await check(page);
  });
}

// The wall shows each RDS server as a tile, grouped by farm.
test('axe finds nothing on a farm and a server beside the wall', async ({ desktop: page }) => {
  await page.goto(desktopAt('/rds-servers'));
  await page.locator('.wall-farm:not(:disabled)').first().click();
  await expect(page.locator('.panel').getByRole('heading', { name: 'Servers' })).toBeVisible();
  await check(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page.locator('.panel')).toContainText('Load');
  await check(page);
});

for (const tab of ['Stream', 'Credential', 'Settings']) {
  test(`axe finds nothing on the tab ${tab} of an account`, async ({ posture: page }) => {
    await page.goto(postureAt('/accounts'));
    await page.getByRole('link', { name: /aws-demo-1/ }).click();
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: tab, exact: true }).click();
    await check(page);
  });
}

test('axe finds nothing on selected findings and an open menu', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await page.locator('.finding').first().getByRole('checkbox').check();
  await page.locator('.finding-link').nth(1).click();
  await page.getByRole('button', { name: 'More actions', exact: true }).click();
  await expect(page.getByRole('menu')).toBeVisible();
  await check(page);
});

test.describe('without a session', () => {
  test.use({ expectsFailedAnswers: true }); // the browser logs that the request for the session is refused

  test('axe finds nothing on the screen to log in', async ({ page }) => {
    for (const address of [postureAt('/findings'), desktopAt('/health')]) {
      await page.goto(address);
      await expect(page.getByRole('button', { name: 'Log in', exact: true }).first()).toBeVisible();
      await check(page, { loggedIn: false });
    }
  });
});

for (const [name, server, path, open] of dialogs) {
  test(`axe finds nothing on the dialog ${name}`, async ({ page, api }) => {
    await logInTo(page, server);
    await page.goto(server === 'posture' ? postureAt(path) : desktopAt(path));
    await open(page, api);
    await expect(page.getByRole('dialog')).toBeVisible();
    await check(page);
  });
}

test.describe('a change that someone else made', () => {
  test.use({ expectsFailedAnswers: true }); // the browser logs that the request to save is refused

  test('axe finds nothing on the dialog of a conflict', async ({ posture: page }) => {
    await page.route('**/v1/users/*', (route) =>
      route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 412, json: { message: 'it has another version' } }),
    );
    await page.goto(postureAt('/admin/users'));
    await page.getByRole('button', { name: 'Change', exact: true }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Another name');
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByRole('dialog', { name: 'Someone else saved a change' })).toBeVisible();
    await check(page);
  });
});
