import { test as base, expect, type APIRequestContext, type BrowserContext, type Page } from '@playwright/test';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

interface Ready {
  console_url: string;
  posture_url: string;
  desktop_url: string;
  sso_url: string;
  api_token: string;
  viewer_api_token: string;
  other_org_api_token: string;
  desktop_domain: string;
  desktop_username: string;
  desktop_password: string;
  sim: Record<string, string>;
}

export const ready = (): Ready => JSON.parse(readFileSync(process.env.CONSOLE_READY ?? '', 'utf8')) as Ready;

/** The console error that the browser logs for a response with an error status. expectsFailedAnswers allows it. */
const failedAnswer = /^Failed to load resource/;

/** Frameworks that one scenario creates and deletes. Other scenarios may request one after it was deleted, because their list still has it. */
const temporaryFramework = /\/v1\/compliance-frameworks\/own-/;

/** Collects what goes wrong in the pages of a context: script errors, refusals of the content security policy, requests to other origins, console errors. */
async function watch(context: BrowserContext, expectsFailedAnswers: boolean): Promise<string[]> {
  const errors: string[] = [];
  const { posture_url, desktop_url, sso_url } = ready();
  const origins = [posture_url, desktop_url, sso_url].map((url) => new URL(url).origin);
  await context.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', (e) =>
      console.error(`content security policy: ${e.violatedDirective} ${e.blockedURI}`),
    ),
  );
  context.on('weberror', (error) => errors.push(`script: ${error.error().message}`));
  context.on('console', (message) => {
    if (message.type() !== 'error') return;
    if (failedAnswer.test(message.text()) && (expectsFailedAnswers || temporaryFramework.test(message.location().url))) return;
    errors.push(`console: ${message.text()} ${message.location().url}`);
  });
  context.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !origins.includes(new URL(request.url()).origin)) errors.push(`other origin: ${request.url()}`);
  });
  return errors;
}

const types: Record<string, string> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.html': 'text/html; charset=utf-8',
};
/** The content security policy with which the server serves the console. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/**
 * Serves a build from disk instead of the one in the binary, so that a change of the console needs no new binary. The server still
 * answers the addresses under /console that are not files of the build.
 */
async function serveBuild(context: BrowserContext, folder: string): Promise<void> {
  await context.route(/\/console\/(?!config|session|pulse|open|sso|device-logins)/, (route) => {
    const path = join(folder, decodeURIComponent(new URL(route.request().url()).pathname).slice('/console'.length));
    const file = existsSync(path) && statSync(path).isFile() ? path : join(folder, 'index.html');
    return route.fulfill({ path: file, contentType: types[extname(file)] ?? 'text/plain', headers: { 'Content-Security-Policy': policy } });
  });
}

/** Logs in with the request that the login form sends. */
export async function logIn(page: Page, data: Record<string, string>, origin: string): Promise<void> {
  const answer = await page.request.post(`${origin}/console/session`, { data, headers: { Origin: origin } });
  expect(answer.ok(), `log in at ${origin}: ${answer.status()} ${await answer.text()}`).toBe(true);
}

/** Logs in as the administrator of one of the servers. */
export function logInTo(page: Page, server: 'posture' | 'desktop'): Promise<void> {
  const { posture_url, api_token, desktop_url, desktop_domain: domain, desktop_username: username, desktop_password: password } = ready();
  return server === 'posture'
    ? logIn(page, { apiToken: api_token }, posture_url)
    : logIn(page, { domain, username, password }, desktop_url);
}

interface Fixtures {
  /** The scenario expects responses with an error status: it does not fail when the browser logs them. */
  expectsFailedAnswers: boolean;
  posture: Page;
  viewer: Page;
  /** Calls the API of the posture server as the administrator, without the browser. */
  api: APIRequestContext;
  /** An analyst who is limited to the account aws-demo-1. */
  limited: Page;
  otherOrg: Page;
  desktop: Page;
}

/** Pages that are logged in. A scenario fails if any of its pages has one of the errors that watch collects. */
export const test = base.extend<Fixtures>({
  expectsFailedAnswers: [false, { option: true }],
  context: async ({ context, expectsFailedAnswers }, use) => {
    if (process.env.CONSOLE_DIST) await serveBuild(context, process.env.CONSOLE_DIST);
    const errors = await watch(context, expectsFailedAnswers);
    await use(context);
    // A screen may send a request while the scenario ends. The route handler for it would fail, and the scenario too.
    for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(errors).toEqual([]);
  },
  posture: async ({ page }, use) => {
    await logInTo(page, 'posture');
    await use(page);
  },
  viewer: async ({ page }, use) => {
    await logIn(page, { apiToken: ready().viewer_api_token }, ready().posture_url);
    await use(page);
  },
  api: async ({ playwright }, use) => {
    const { posture_url: baseURL, api_token } = ready();
    const login = await playwright.request.newContext({ baseURL, ignoreHTTPSErrors: true });
    const answer = await login.post('/csp/gateway/am/api/auth/api-tokens/authorize', { form: { refresh_token: api_token } });
    const { access_token } = (await answer.json()) as { access_token: string };
    await login.dispose();
    const api = await playwright.request.newContext({
      baseURL,
      ignoreHTTPSErrors: true,
      extraHTTPHeaders: { Authorization: `Bearer ${access_token}` },
    });
    await use(api);
    await api.dispose();
  },
  limited: async ({ page, api }, use) => {
    const found = await api.post('/v1/cloud-accounts/query', { data: {} });
    const { cloudAccounts } = (await found.json()) as { cloudAccounts: { cloudAccountId: string; cloudAccountName: string }[] };
    const account = cloudAccounts.find((a) => a.cloudAccountName === 'aws-demo-1');
    const made = await api.post('/v1/api-tokens', {
      data: { name: 'limited', role: 'analyst', limitedTo: { cloudAccountIds: [account?.cloudAccountId] } },
    });
    const { id, token } = (await made.json()) as { id: string; token: string };
    await logIn(page, { apiToken: token }, ready().posture_url);
    await use(page);
    await page.close(); // requests of an open page would be refused once its token is deleted
    await api.delete(`/v1/api-tokens/${id}`);
  },
  otherOrg: async ({ page }, use) => {
    await logIn(page, { apiToken: ready().other_org_api_token }, ready().posture_url);
    await use(page);
  },
  desktop: async ({ page }, use) => {
    await logInTo(page, 'desktop');
    await use(page);
  },
});

export { expect };
export const postureAt = (path: string) => `${ready().posture_url}/console${path}`;
export const desktopAt = (path: string) => `${ready().desktop_url}/console${path}`;

/** Waits until animations have ended. On a busy machine the page still has the colours of the previous scheme for some frames. */
export async function painted(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    await Promise.allSettled(document.getAnimations().map((animation) => animation.finished));
  });
}

/** Waits until nothing is loading any more. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator('main')).toBeVisible();
  await expect(page.locator('[aria-label="Loading"]')).toHaveCount(0);
}

/** Opens the resource of a finding. */
export async function openResource(page: Page): Promise<void> {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  await page.getByRole('link', { name: 'Open resource', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Properties' })).toBeVisible();
}
