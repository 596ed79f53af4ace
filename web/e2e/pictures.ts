import type { Page } from '@playwright/test';
import { dialogs } from './dialogs';
import { desktopAt, expect, logInTo, painted, postureAt, settled, test } from './fixtures';
import { desktopScreens, panels, postureScreens } from './screens';

async function openAndPhotograph(page: Page, address: string, name: string): Promise<void> {
  await page.goto(address);
  await photograph(page, name);
}

/** The widths that are photographed. CONSOLE_WIDTHS=768 is a tablet. */
const widths = (process.env.CONSOLE_WIDTHS ?? '1440,360').split(',').map(Number);

/** The height in pixels at which a picture for a phone ends. */
const maxHeight = 3000;

/** Takes pictures of the open page, at each width and in light and dark. */
async function photograph(page: Page, name: string): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      await settled(page);
      await painted(page);
      const path = `pictures/${name}-${scheme}-${width}.png`;
      if (width > 640) await page.screenshot({ path });
      else {
        // For phones the whole page, but long lists are cut off.
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        await page.screenshot({ path, fullPage: true, clip: { x: 0, y: 0, width, height: Math.min(height, maxHeight) } });
      }
    }
  }
}

const file = (name: string) => name.replace(/^\//, '').replace(/[^a-z0-9]+/gi, '-');
for (const screen of postureScreens)
  test(`picture of ${screen}`, async ({ posture }) => openAndPhotograph(posture, postureAt(screen), `posture-${file(screen)}`));
for (const screen of desktopScreens)
  test(`picture of the desktop's ${screen}`, async ({ desktop }) =>
    openAndPhotograph(desktop, desktopAt(screen), `desktop-${file(screen)}`));

for (const [name, server, path, open] of dialogs)
  test(`picture of the dialog ${name}`, async ({ page, api }) => {
    await logInTo(page, server);
    await page.goto(server === 'posture' ? postureAt(path) : desktopAt(path));
    await open(page, api);
    await expect(page.getByRole('dialog')).toBeVisible();
    await photograph(page, `dialog-${file(name)}`);
  });

for (const kind of panels)
  test(`picture of the panel of ${kind}`, async ({ desktop: page }) => {
    await page.goto(desktopAt(`/${kind}`));
    await page.locator('tbody th a').first().click();
    await expect(page.locator('.panel').getByRole('heading', { name: 'Status' })).toBeVisible();
    await photograph(page, `desktop-panel-${kind}`);
  });

for (const tab of ['Runs', 'Stream', 'Credential', 'Settings'])
  test(`picture of the tab ${tab} of an account`, async ({ posture: page }) => {
    await page.goto(postureAt('/accounts'));
    await page.getByRole('link', { name: /aws-demo-1/ }).click();
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: tab, exact: true }).click();
    await photograph(page, `posture-account-${tab.toLowerCase()}`);
  });

test('picture of a finding and of its resource', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  await page.locator('.drawer').getByRole('heading', { name: 'Risk' }).waitFor();
  await photograph(page, 'posture-finding');
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('link', { name: 'Open resource', exact: true }).click();
  await page.locator('.graph-card.me').waitFor();
  await photograph(page, 'posture-resource');
});

test('picture of a farm on the wall', async ({ desktop: page }) => {
  await page.goto(desktopAt('/rds-servers'));
  await page.locator('.wall-farm').first().click();
  await page.locator('.panel').waitFor();
  await photograph(page, 'desktop-wall-farm');
});

test('picture of the graph of a dry run', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/aws-ec2-metadata-theft'));
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('group', { name: 'Result' }).getByRole('button', { name: 'Graph', exact: true }).click();
  await page.locator('.dry .graph-card').first().waitFor();
  await photograph(page, 'posture-dry-run-graph');
});

test('picture of the sorted inventory', async ({ posture: page }) =>
  openAndPhotograph(page, postureAt('/inventory?type=AWS.EC2.Volume&sort=-name'), 'posture-inventory-sorted'));

test('picture of the assessment of a control', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-7.0'));
  await page
    .getByRole('button', { name: /^Assess control/ })
    .first()
    .click();
  await photograph(page, 'posture-assess');
});
