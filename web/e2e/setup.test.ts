import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import setup from './setup';

let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'vigil-setup-'));
  vi.stubEnv('TMPDIR', temporary);
  vi.stubEnv('CONSOLE_READY', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true, force: true });
});

test.each([
  ['is missing', '/no/such/binary', 'ENOENT'],
  ['ends before it is ready', '/bin/false', 'the demo ended with status 1'],
])('a demo that %s fails the setup, which leaves no folder behind', async (_, binary, error) => {
  vi.stubEnv('CONSOLE_BIN', binary);
  await expect(setup()).rejects.toThrow(error);
  expect(readdirSync(temporary)).toEqual([]);
});
