import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { painted, settled } from './fixtures';

const widths = [1440, 768, 360];

/** Rows far down a long list, which are not checked: they are like those above, and checking hundreds of them takes minutes. */
const farDown = ['tbody tr:nth-child(n+40)', 'ul > li:nth-child(n+40)', '.tree details:nth-of-type(n+12)'];

/** Checks what is on the page at three widths, in light and dark. Dark differs in colours only, so only contrast is checked there. */
export async function check(page: Page, { loggedIn = true } = {}): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      if (loggedIn) await settled(page);
      await painted(page);
      // Without legacy mode, every analysis opens a tab to merge the results of frames. These pages have no frames.
      const axe = new AxeBuilder({ page }).setLegacyMode(true);
      for (const rows of farDown) axe.exclude(rows);
      const { violations } = await (scheme === 'dark' ? axe.withRules(['color-contrast']) : axe).analyze();
      expect(
        violations.map(
          (v) =>
            `${width} ${scheme} ${v.id}: ${v.nodes
              .slice(0, 3)
              .map((n) => n.html)
              .join(' | ')}`,
        ),
      ).toEqual([]);
    }
  }
}
