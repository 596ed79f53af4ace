import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { desktopAt, expect, logInTo, postureAt, settled, test } from './fixtures';
import { desktopScreens, postureScreens } from './screens';

test.describe.configure({ timeout: 300_000 }); // six looks at up to 10,000 elements each

const widths = [1440, 768, 360];

/** Checks what is on the page at three widths, in light and dark. Dark differs in colours only, so only contrast is looked at there. */
async function check(page: Page): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      await settled(page);
      const axe = new AxeBuilder({ page }).setLegacyMode(true); // without it every look opens a tab to merge frames, and there are no frames
      const { violations } = await (scheme === 'dark' ? axe.withRules(['color-contrast']) : axe).analyze();
      expect(violations.map((v) => `${width} ${scheme} ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html).join(' | ')}`)).toEqual([]);
    }
  }
}

for (const screen of postureScreens) test(`axe finds nothing on ${screen}`, async ({ posture }) => { await posture.goto(postureAt(screen)); await check(posture); });
for (const screen of desktopScreens) test(`axe finds nothing on the desktop's ${screen}`, async ({ desktop }) => { await desktop.goto(desktopAt(screen)); await check(desktop); });

test('axe finds nothing on a finding and its resource', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  await expect(page.locator('.drawer .path').first()).toBeVisible();
  await check(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('link', { name: 'Open resource' }).click();
  await expect(page.locator('.graph-card.me')).toBeVisible();
  await check(page);
});

test('axe finds nothing on an account', async ({ posture: page }) => {
  await page.goto(postureAt('/accounts'));
  await page.getByRole('link', { name: /aws-demo-1/ }).click();
  await expect(page.getByText('types read completely')).toBeVisible();
  await check(page);
});

test('axe finds nothing on a component beside its list', async ({ desktop: page }) => {
  await page.goto(desktopAt('/farms'));
  await page.locator('tbody th a').first().click();
  await expect(page.locator('.panel .line-chart')).toBeVisible();
  await check(page);
});

/** Dialogs: how each is opened. */
const dialogs: [string, 'posture' | 'desktop', string, (page: Page) => Promise<void>][] = [
  ['suppress', 'posture', '/findings', async (page) => { await expect(page.locator('.finding').first()).toBeVisible(); await page.keyboard.press('j'); await page.keyboard.press('s'); }],
  ['add a filter', 'posture', '/findings', (page) => page.getByRole('button', { name: 'Filter', exact: true }).click()],
  ['keep a view', 'posture', '/findings?level=High', (page) => page.getByRole('button', { name: 'Keep view' }).click()],
  ['keys', 'posture', '/overview', async (page) => { await settled(page); await page.keyboard.press('?'); }],
  ['jump', 'posture', '/overview', async (page) => { await settled(page); await page.keyboard.press('Control+k'); }],
  ['new user', 'posture', '/admin/users', (page) => page.getByRole('button', { name: 'New user' }).click()],
  ['new token', 'posture', '/admin/tokens', (page) => page.getByRole('button', { name: 'New token' }).click()],
  ['new framework', 'posture', '/compliance', (page) => page.getByRole('button', { name: 'New', exact: true }).click()],
  ['versions of a rule', 'posture', '/rules/aws-ec2-metadata-theft', (page) => page.getByRole('button', { name: 'History' }).click()],
  ['new mute rule', 'posture', '/mute-rules?new=yes&rule=aws-ec2-metadata-theft', async (page) => { await expect(page.locator('.mute-preview .risk').first()).toBeVisible(); }],
  ['columns', 'posture', '/inventory?type=AWS.EC2.Volume', async (page) => { await expect(page.locator('tbody tr').first()).toBeVisible(); await page.keyboard.press('v'); }],
  ['break something', 'desktop', '/health', (page) => page.getByRole('button', { name: /^All \d+/ }).click()],
  ['domain account', 'desktop', '/domain-accounts', async (page) => { await settled(page); await page.keyboard.press('n'); }],
  ['monitoring key', 'desktop', '/admin/keys', (page) => page.getByRole('button', { name: 'New key' }).click()],
  ['enrol', 'desktop', '/machines', (page) => page.getByRole('button', { name: 'Enrol' }).click()],
];
for (const [name, server, path, open] of dialogs) {
  test(`axe finds nothing on the dialog ${name}`, async ({ page }) => {
    await logInTo(page, server);
    await page.goto(server === 'posture' ? postureAt(path) : desktopAt(path));
    await open(page);
    await expect(page.getByRole('dialog')).toBeVisible();
    await check(page);
  });
}
