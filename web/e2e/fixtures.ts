import { test as base, expect, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';

interface Ready {
  posture_url: string;
  desktop_url: string;
  api_token: string;
  viewer_api_token: string;
  desktop_domain: string;
  desktop_username: string;
  desktop_password: string;
  sim: Record<string, string>;
}

export const ready = (): Ready => JSON.parse(readFileSync(process.env.VIGIL_READY ?? '', 'utf8')) as Ready;

/** Complaints of a page: script errors, refusals of the content security policy, requests to other origins. */
function watch(page: Page, origin: string): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`));
  page.on('console', (message) => message.type() === 'error' && !message.text().startsWith('Failed to load resource') && complaints.push(message.text()));
  page.on('request', (request) => /^https?:/.test(request.url()) && !request.url().startsWith(origin) && complaints.push(`other origin: ${request.url()}`));
  return complaints;
}

/** Logs in with a token, as the login form does. */
async function logIn(page: Page, data: Record<string, string>, origin: string): Promise<void> {
  const answer = await page.request.post(`${origin}/console/session`, { data, headers: { Origin: origin } });
  expect(answer.ok(), `log in at ${origin}: ${answer.status()} ${await answer.text()}`).toBe(true);
}

interface Fixtures {
  posture: Page;
  viewer: Page;
  desktop: Page;
}

/** Pages that are logged in. Each fails its test when the page complains. */
export const test = base.extend<Fixtures>({
  posture: async ({ page }, use) => {
    const { posture_url, api_token } = ready();
    const complaints = watch(page, posture_url);
    await logIn(page, { apiToken: api_token }, posture_url);
    await use(page);
    expect(complaints).toEqual([]);
  },
  viewer: async ({ page }, use) => {
    const { posture_url, viewer_api_token } = ready();
    await logIn(page, { apiToken: viewer_api_token }, posture_url);
    await use(page);
  },
  desktop: async ({ page }, use) => {
    const { desktop_url, desktop_domain: domain, desktop_username: username, desktop_password: password } = ready();
    const session = await page.request.get(`${desktop_url}/console/session`);
    base.skip(!(session.headers()['content-type'] ?? '').includes('json'), 'this server has no login for browsers');
    const complaints = watch(page, desktop_url);
    await logIn(page, { domain, username, password }, desktop_url);
    await use(page);
    expect(complaints).toEqual([]);
  },
});

export { expect };
export const postureAt = (path: string) => `${ready().posture_url}/console${path}`;
export const desktopAt = (path: string) => `${ready().desktop_url}/console${path}`;
