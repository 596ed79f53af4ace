import { check } from './axe';
import { desktopAt, postureAt, test } from './fixtures';
import { desktopScreens, postureScreens } from './screens';

test.describe.configure({ timeout: 300_000 }); // check analyses up to 10,000 elements six times

for (const screen of postureScreens)
  test(`axe finds nothing on ${screen}`, async ({ posture }) => {
    await posture.goto(postureAt(screen));
    await check(posture);
  });
for (const screen of desktopScreens)
  test(`axe finds nothing on the desktop's ${screen}`, async ({ desktop }) => {
    await desktop.goto(desktopAt(screen));
    await check(desktop);
  });
