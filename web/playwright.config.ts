import { defineConfig } from '@playwright/test';
import { existsSync } from 'node:fs';

// Left out unless CONSOLE_ALL is set: these look at every screen many times and take longer than all others together.
const long = ['axe.spec.ts', 'axe-layers.spec.ts', 'failures.spec.ts'];

// The headless shell takes two thirds of the time of the whole browser.
const shell = '/usr/bin/chromium-headless-shell';
const browser = process.env.CHROMIUM ?? (existsSync(shell) ? shell : '/usr/bin/chromium');

// One demo serves all scenarios; it is started by e2e/setup.ts.
export default defineConfig({
  testDir: 'e2e',
  testMatch: process.env.CONSOLE_PICTURES ? 'pictures.ts' : '*.spec.ts',
  testIgnore: process.env.CONSOLE_ALL ? [] : long,
  globalSetup: './e2e/setup.ts',
  outputDir: 'test-results',
  workers: Number(process.env.CONSOLE_WORKERS ?? 3),
  fullyParallel: true,
  retries: Number(process.env.CONSOLE_RETRIES ?? 0),
  timeout: 90_000,
  expect: { timeout: 30_000 },
  reporter: 'line',
  use: {
    viewport: { width: 1440, height: 900 },
    ignoreHTTPSErrors: true,
    launchOptions: { executablePath: browser, args: ['--no-sandbox', '--disable-dev-shm-usage'] },
  },
});
