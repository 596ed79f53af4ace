import { defineConfig } from '@playwright/test';

// One demo serves all scenarios; it is started by e2e/setup.ts.
export default defineConfig({
  testDir: 'e2e',
  testMatch: process.env.VIGIL_PICTURES ? 'pictures.ts' : '*.spec.ts',
  globalSetup: './e2e/setup.ts',
  outputDir: 'test-results',
  workers: 2,
  fullyParallel: true,
  timeout: 90_000,
  expect: { timeout: 30_000 },
  reporter: 'line',
  use: {
    viewport: { width: 1440, height: 900 },
    ignoreHTTPSErrors: true,
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] },
  },
});
