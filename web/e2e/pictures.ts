import type { Page } from '@playwright/test';
import { desktopAt, painted, postureAt, settled, test } from './fixtures';
import { desktopScreens, postureScreens } from './screens';

async function take(page: Page, address: string, name: string): Promise<void> {
  await page.goto(address);
  for (const scheme of ['light', 'dark'] as const) {
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      await settled(page);
      await painted(page);
      await page.screenshot({ path: `pictures/${name}-${scheme}-${width}.png`, fullPage: width === 390 });
    }
  }
}

const file = (screen: string) => screen.slice(1).replace(/[^a-z0-9]+/gi, '-');
for (const screen of postureScreens)
  test(`picture of ${screen}`, async ({ posture }) => take(posture, postureAt(screen), `posture-${file(screen)}`));
for (const screen of desktopScreens)
  test(`picture of the desktop's ${screen}`, async ({ desktop }) => take(desktop, desktopAt(screen), `desktop-${file(screen)}`));
