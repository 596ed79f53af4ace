import type { Page, Route } from '@playwright/test';
import { desktopAt, expect, openResource, postureAt, ready, test } from './fixtures';
import { desktopScreens, postureScreens } from './screens';

test.use({ expectsFailedAnswers: true });

/**
 * Ways in which a request can fail. With each, the page must still show the navigation, a title and a message about the failure.
 * The bodies suit both servers: posture sends message, desktop sends error_message.
 */
const failures: Record<string, (route: Route) => Promise<void>> = {
  403: (route) =>
    route.fulfill({ status: 403, json: { message: 'this takes the role admin', error_message: 'this takes the role admin' } }),
  401: (route) => route.fulfill({ status: 401, json: { message: 'log in', error_message: 'log in' } }),
  404: (route) => route.fulfill({ status: 404, json: { message: 'there is no such record', error_message: 'there is no such record' } }),
  409: (route) => route.fulfill({ status: 409, json: { message: 'it was changed meanwhile', error_message: 'it was changed meanwhile' } }),
  412: (route) => route.fulfill({ status: 412, json: { message: 'it has another version', error_message: 'it has another version' } }),
  429: (route) =>
    route.fulfill({
      status: 429,
      headers: { 'Retry-After': '60' },
      json: { message: 'too many requests', error_message: 'too many requests' },
    }),
  500: (route) =>
    route.fulfill({
      status: 500,
      headers: { 'X-Request-Id': 'REQUEST1' },
      json: { message: 'internal error', error_message: 'internal error' },
    }),
  'malformed JSON': (route) => route.fulfill({ status: 200, contentType: 'application/json', body: '<html>{"results":' }),
  503: (route) => route.fulfill({ status: 503, headers: { 'Retry-After': '60' }, json: { message: 'no room', error_message: 'no room' } }),
  'no body': (route) => route.fulfill({ status: 200, contentType: 'application/json', body: '' }),
  'connection reset': (route) => route.abort('connectionreset'),
};

/** Screens that show their content without sending a request first. */
const needsNoRequest = /^\/(explore|rules\/new|accounts\/link|alert-rules\/new)/;

async function failEverything(page: Page, address: string, path: string): Promise<void> {
  for (const [name, fail] of Object.entries(failures)) {
    await page.route(/\/(v1|v2|rest|scripts)\//, fail);
    await page.goto(address);
    const main = page.locator('main');
    await expect(main, name).toBeVisible();
    await expect(page.locator('.nav'), name).toBeAttached();
    await expect(page.locator('h1').first(), name).not.toBeEmpty();
    if (name === '401') await expect(page.getByRole('dialog', { name: 'Log in again' }), name).toBeVisible();
    else if (!needsNoRequest.test(path))
      await expect(page.getByRole('alert').or(page.locator('.state, .banner')).first(), name).toBeVisible();
    else await expect(main, name).toContainText(/\w{3}/);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
}

for (const path of postureScreens)
  test(`the page stays usable when requests fail at ${path}`, async ({ posture }) => failEverything(posture, postureAt(path), path));
for (const path of desktopScreens)
  test(`the page stays usable when requests fail at the desktop's ${path}`, async ({ desktop }) =>
    failEverything(desktop, desktopAt(path), path));

test('the request id of a failure can be copied', async ({ posture: page }) => {
  await page.route('**/v2/findings/query', failures[500]!);
  await page.goto(postureAt('/findings'));
  await expect(page.getByText('REQUEST1').first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Copy request id', exact: true }).first()).toBeVisible();
});

test('after 429 Too Many Requests, the page counts down to the next try', async ({ posture: page }) => {
  await page.route('**/v1/compliance-frameworks', failures[429]!);
  await page.goto(postureAt('/compliance'));
  await expect(page.getByText(/next try in \d+ s/).first()).toBeVisible();
});

test('a part of the page that fails does not affect the other parts', async ({ posture: page }) => {
  await page.route('**/v2/findings/trends-query', failures[500]!);
  await page.goto(postureAt('/overview'));
  await expect(page.getByRole('alert')).toContainText('The trend could not be read');
  await expect(page.getByRole('heading', { name: 'Riskiest resources' })).toBeVisible();
  await expect(page.locator('.ledger .figure').first()).toHaveText(/^[1-9]/);
});

for (const view of ['wall', 'table'])
  test(`when the farms cannot be read, the ${view} of RDS servers does not say that none matches`, async ({ desktop: page }) => {
    await page.route('**/rest/monitor/farms', failures[500]!);
    await page.goto(desktopAt(`/rds-servers?view=${view}`));
    await expect(page.getByRole('alert')).toContainText('The list of farms could not be read');
    await expect(page.getByText('None matches')).toHaveCount(0);
  });

test('when the findings cannot be read, the activity does not say that nothing happened', async ({ posture: page }) => {
  await page.route('**/v2/findings/query', failures[500]!);
  await page.goto(postureAt('/activity?show=findings'));
  await expect(page.getByRole('alert').filter({ hasText: 'The findings could not be read' })).toBeVisible();
  await expect(page.getByRole('heading', { name: /^Nothing happened/ })).toHaveCount(0);
});

test('when the findings of a resource cannot be read, it says that they are unknown', async ({ posture: page }) => {
  await openResource(page);
  await page.route('**/v2/findings/query', failures[500]!);
  await page.reload();
  await expect(page.locator('.resource-head')).toContainText('Findings unknown');
  await expect(page.getByText('The list of findings could not be read')).toBeVisible();
});

test('when the session ends, a dialog asks to log in, and the page then continues in the same place', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=High'));
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.context().clearCookies();
  // Click by script: if the page has already noticed the end of the session, the dialog covers the filter.
  await page
    .locator('.facet-value', { hasText: 'Medium' })
    .locator('input')
    .evaluate((input: HTMLInputElement) => input.click());
  const dialog = page.getByRole('dialog', { name: 'Log in again' });
  await expect(dialog).toBeVisible();
  await expect(page.locator('.finding').first()).toBeAttached();
  await dialog.getByLabel('API token').fill(ready().api_token);
  await dialog.getByRole('button', { name: 'Log in', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page).toHaveURL(/level=High,Medium/);
  await expect(page.locator('.list-head b')).toContainText('finding');
});

test('when the server cannot be reached, the page says so and keeps showing what it has loaded', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.route(/\/(v1|v2|console\/(config|pulse))/, (route) => route.abort());
  await page.locator('.facet-value', { hasText: 'High' }).locator('input').check();
  await expect(page.getByText('Not reached since')).toBeVisible();
  await expect(page.locator('.fresh.late')).toBeVisible();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try now', exact: true }).first().click();
  await expect(page.getByText('Not reached since')).toHaveCount(0);
  await expect(page.locator('.finding').first()).toBeVisible();
});

test('when the desktop server can be reached again, the page reconnects by itself', async ({ desktop: page }) => {
  await page.goto(desktopAt('/gateways'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'History', exact: true }).click();
  await expect(page.getByText('Not reached since')).toBeVisible();
  await page.context().setOffline(false);
  await expect(page.getByText('Not reached since')).toHaveCount(0);
});

test('a list of ten thousand items can be searched', async ({ desktop: page }) => {
  await page.route('**/rest/config/v1/agents', (route) =>
    route.fulfill({
      json: Array.from({ length: 10_000 }, (_, i) => ({
        kind: 'RDS_SERVER',
        id: `00000000-0000-0000-0000-${String(i).padStart(12, '0')}`,
        name: `host${i}`,
        certificate_serial: String(i),
        certificate_not_after: Date.now() + 1e10,
        revoked: false,
        last_seen_at: Date.now(),
      })),
    }),
  );
  await page.goto(desktopAt('/machines'));
  await expect(page.getByText('and 9,700 more: search for one.')).toBeVisible();
  await page.getByLabel('Search machines').fill('host9999');
  await expect(page.locator('tbody tr').first()).toContainText('host9999');
});

test('ten thousand rules can be searched', async ({ posture: page }) => {
  await page.goto(postureAt('/rules'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  const rules = (await (await page.request.get(`${ready().posture_url}/v1/rules`)).json()) as object[];
  await page.route('**/v1/rules', (route) =>
    route.fulfill({
      json: Array.from({ length: 10_000 }, (_, i) => ({
        ...rules[0],
        id: `rule-${i}`,
        displayName: `rule-${i}`,
        name: `Rule number ${i}`,
      })),
    }),
  );
  await page.reload();
  await page.getByLabel('Search rules').fill('number 9999');
  await expect(page.getByRole('link', { name: 'Rule number 9999', exact: true })).toBeVisible({ timeout: 60_000 });
});
