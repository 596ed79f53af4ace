import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts one demo for all scenarios and hands over where it is. */
export default async function setup(): Promise<() => Promise<void>> {
  if (process.env.VIGIL_READY) return async () => undefined;
  const folder = mkdtempSync(join(tmpdir(), 'vigil-e2e-'));
  const file = join(folder, 'ready.json');
  const demo = spawn(process.env.VIGIL_BIN ?? '../bin/vigil', ['demo', '--ready-file', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<void>((done) => demo.once('exit', () => done()));
  for (let waited = 0; !existsSync(file) || readFileSync(file, 'utf8').trim() === ''; waited += 200) {
    if (demo.exitCode !== null) throw new Error(`the demo ended with status ${demo.exitCode}`);
    if (waited > 180_000) throw new Error('the demo is not ready after three minutes');
    await new Promise((go) => setTimeout(go, 200));
  }
  process.env.VIGIL_READY = file;
  return async () => {
    demo.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
}
