import { desktopAt, expect, logInTo, openResource, postureAt, settled, test } from './fixtures';
import { desktopScreens, postureScreens } from './screens';

// Tables scroll within their own box: the page itself must not become wider than a small phone.
for (const [server, screens, at] of [
  ['posture', postureScreens, postureAt],
  ['desktop', desktopScreens, desktopAt],
] as const)
  test(`no screen of ${server} is wider than 360 px`, async ({ page }) => {
    test.setTimeout(240_000);
    await page.setViewportSize({ width: 360, height: 740 });
    await logInTo(page, server);
    const wide: Record<string, number> = {};
    for (const screen of screens) {
      await page.goto(at(screen));
      await settled(page);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > 360) wide[screen] = width;
    }
    expect(wide).toEqual({});
  });

test('a graph that is wider than a tablet scrolls in its own box', async ({ posture: page }) => {
  await page.setViewportSize({ width: 768, height: 1024 });
  await openResource(page);
  await page.getByRole('button', { name: 'Reach', exact: true }).click();
  const graph = page.getByRole('region', { name: 'Graph' });
  await expect.poll(() => graph.evaluate((box) => box.scrollWidth - box.clientWidth)).toBeGreaterThan(0);
  for (const whole of [false, true]) {
    if (whole) await page.getByRole('button', { name: 'Whole graph', exact: true }).click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(768);
  }
});

test('a wide font does not cut off names in the navigation', async ({ desktop: page }) => {
  await page.goto(desktopAt('/connection-servers'));
  const label = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current=page] .menu-label');
  await expect(label).toHaveText('Connection servers');
  for (const spacing of ['0', '2px']) {
    await page.evaluate((wide) => (document.documentElement.style.letterSpacing = wide), spacing);
    const cut = () => label.evaluate((text) => text.scrollWidth - text.clientWidth);
    expect(await cut(), spacing).toBeLessThanOrEqual(0);
    expect(await page.getByRole('navigation', { name: 'Main' }).evaluate((nav) => nav.scrollWidth - nav.clientWidth)).toBeLessThanOrEqual(
      0,
    );
  }
});
