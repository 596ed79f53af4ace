import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasEnded, startVigil, stopVigil } from './vigil';

/** Starts one demo for all scenarios and sets CONSOLE_READY to its ready file. If CONSOLE_READY is set already, the scenarios use that demo. */
export default async function setup(): Promise<() => Promise<void>> {
  if (process.env.CONSOLE_READY) return async () => undefined;
  const folder = mkdtempSync(join(tmpdir(), 'vigil-e2e-'));
  const file = join(folder, 'ready.json');
  let demo: ChildProcess | undefined;
  const stop = async () => {
    if (demo) await stopVigil(demo);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    demo = await startVigil(['demo', '--ready-file', file], ['ignore', 'ignore', 'inherit']);
    for (let waited = 0; !existsSync(file); waited += 200) {
      if (hasEnded(demo)) throw new Error(`the demo ended with ${demo.signalCode ?? `status ${demo.exitCode}`}`);
      if (waited > 180_000) throw new Error('the demo is not ready after three minutes');
      await new Promise((go) => setTimeout(go, 200));
    }
    await waitForHistory(JSON.parse(readFileSync(file, 'utf8')) as { posture_url: string; api_token: string });
  } catch (error) {
    await stop(); // Playwright calls the returned function only if setup succeeds
    throw error;
  }
  process.env.CONSOLE_READY = file;
  return stop;
}

/** Waits until the demo has evaluated all accounts and backdated their findings: the counts change until then. */
async function waitForHistory(ready: { posture_url: string; api_token: string }): Promise<void> {
  const authorize = await fetch(`${ready.posture_url}/csp/gateway/am/api/auth/api-tokens/authorize`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `refresh_token=${encodeURIComponent(ready.api_token)}`,
  });
  const { access_token } = (await authorize.json()) as { access_token: string };
  const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' };
  for (let waited = 0; waited < 120_000; waited += 500) {
    const answer = await fetch(`${ready.posture_url}/v2/findings/query`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        filters: { createdTo: new Date(Date.now() - 3 * 86_400_000).toISOString() },
        paginationInfo: { pageSize: 1 },
      }),
    });
    if (((await answer.json()) as { totalCount: number }).totalCount > 0) return;
    await new Promise((go) => setTimeout(go, 500));
  }
  throw new Error('the demo has no history after two minutes');
}
