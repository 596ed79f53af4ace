import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, postureAt, ready, test } from './fixtures';
import { startVigil } from './vigil';

test('the command line logs in with a code that is confirmed in the console', async ({ posture: page }) => {
  const profiles = join(mkdtempSync(join(tmpdir(), 'vigil-login-')), 'profiles.yaml');
  const login = startVigil(['login', ready().posture_url, '--browser', '--profiles', profiles], ['ignore', 'ignore', 'pipe']);
  let said = '';
  login.stderr?.on('data', (text: Buffer) => (said += text.toString()));
  const ended = new Promise<number | null>((done) => login.once('exit', done));
  await expect.poll(() => said).toMatch(/code=[A-Z]{4}-[A-Z]{4}/);
  const code = /code=([A-Z]{4}-[A-Z]{4})/.exec(said)?.[1] ?? '';
  await page.goto(postureAt(`/device-login?code=${code}`));
  await expect(page.getByText(code)).toBeVisible();
  await expect(page.getByText(/vigil command line/)).toBeVisible();
  await page.getByRole('button', { name: 'Confirm', exact: true }).click();
  await expect(page.getByText('The program is logged in.')).toBeVisible();
  expect(await ended).toBe(0);
  expect(readFileSync(profiles, 'utf8')).toContain('vgl_');
});
