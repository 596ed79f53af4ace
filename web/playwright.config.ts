import { defineConfig } from '@playwright/test';

// What scripts/test-web runs by itself. CONSOLE_ALL=1 runs every scenario.
const usual = ['findings.spec.ts', 'frame.spec.ts', 'keyboard.spec.ts'];

// One demo serves all scenarios; it is started by e2e/setup.ts.
export default defineConfig({
  testDir: 'e2e',
  testMatch: process.env.CONSOLE_PICTURES ? 'pictures.ts' : process.env.CONSOLE_ALL ? '*.spec.ts' : usual,
  globalSetup: './e2e/setup.ts',
  outputDir: 'test-results',
  workers: 2,
  fullyParallel: true,
  retries: Number(process.env.CONSOLE_RETRIES ?? 0),
  timeout: 90_000,
  expect: { timeout: 30_000 },
  reporter: 'line',
  use: {
    viewport: { width: 1440, height: 900 },
    ignoreHTTPSErrors: true,
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'] },
  },
});
