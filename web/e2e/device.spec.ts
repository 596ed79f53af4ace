import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, postureAt, ready, test } from './fixtures';
import { startVigil, stopVigil } from './vigil';

let folder: string | undefined;
let login: ChildProcess | undefined;

test.afterEach(async () => {
  if (login) await stopVigil(login); // it still waits for a confirmation if the scenario failed
  if (folder) rmSync(folder, { recursive: true, force: true });
  login = folder = undefined;
});

test('the command line logs in with a code that is confirmed in the console', async ({ posture: page }) => {
  folder = mkdtempSync(join(tmpdir(), 'vigil-login-'));
  const profiles = join(folder, 'profiles.yaml');
  const program = await startVigil(['login', ready().posture_url, '--browser', '--profiles', profiles], ['ignore', 'ignore', 'pipe']);
  login = program;
  let said = '';
  program.stderr?.on('data', (text: Buffer) => (said += text.toString()));
  const ended = new Promise<number | null>((done) => program.once('exit', done));
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
