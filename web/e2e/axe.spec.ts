import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { desktopAt, expect, postureAt, test } from './fixtures';
import { desktopScreens, postureScreens } from './screens';

const looks = [{ width: 1440, scheme: 'light' }, { width: 1440, scheme: 'dark' }, { width: 768, scheme: 'light' }, { width: 360, scheme: 'dark' }] as const;

async function check(page: Page, address: string): Promise<void> {
  await page.goto(address);
  for (const { width, scheme } of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await expect(page.locator('main')).toBeVisible();
    await expect(page.locator('[aria-label="Loading"]')).toHaveCount(0);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map((v) => `${width} ${scheme} ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html).join(' | ')}`)).toEqual([]);
  }
}

for (const screen of postureScreens) test(`axe finds nothing on ${screen}`, async ({ posture }) => check(posture, postureAt(screen)));
for (const screen of desktopScreens) test(`axe finds nothing on the desktop's ${screen}`, async ({ desktop }) => check(desktop, desktopAt(screen)));
