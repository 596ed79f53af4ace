import type { Locator, Page } from '@playwright/test';
import { desktopAt, expect, settled, test } from './fixtures';

test('the health map shows the five stages of a connection', async ({ desktop: page }) => {
  await page.goto(desktopAt('/health'));
  await expect(page.locator('.stage')).toHaveCount(5);
  await expect(page.locator('.stage-head').first()).toContainText(/\d of 6 OK/);
  await expect(page.locator('.ledger .figure').first()).toHaveText(/^[1-9]/);
});

test.describe('a list that cannot be read', () => {
  test.use({ expectsFailedAnswers: true });
  test('makes its stage of the health map unknown', async ({ desktop: page }) => {
    await page.route('**/rest/monitor/gateways', (route) => route.fulfill({ status: 500, json: { error_message: 'internal error' } }));
    await page.goto(desktopAt('/health'));
    const stage = page.locator('.stage').first();
    await expect(stage).toContainText('The list of gateways could not be read');
    await expect(stage.locator('.stage-head')).toContainText('Not read');
    await expect(stage.locator('.stage-node')).toHaveClass(/unknown/);
    await expect(page.locator('.stage-head').nth(1)).toContainText(/ of \d+ OK$/);
    // A successful answer removes the button. Pausing stops the regular requests, so only the click can get that answer.
    await page.keyboard.press('p');
    await expect(page.getByRole('button', { name: 'Paused', exact: true })).toBeVisible();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await stage.getByRole('button', { name: 'Try again', exact: true }).click();
    await expect(stage.locator('.stage-head')).toContainText(/\d of 6 OK$/);
  });

  test('makes its stage unknown although another list of the stage was read', async ({ desktop: page }) => {
    await page.route('**/rest/monitor/desktop-composers', (route) =>
      route.fulfill({ status: 500, json: { error_message: 'internal error' } }),
    );
    await page.goto(desktopAt('/health'));
    const stage = page.locator('.stage').last();
    await expect(stage).toContainText('The list of composers could not be read');
    await expect(stage.locator('.stage-head')).toContainText(/ OK, others not read$/);
    await expect(stage.locator('.stage-node')).not.toHaveClass(/ok/);
  });
});

test('the key P pauses the health map and resumes it', async ({ desktop: page }) => {
  await page.goto(desktopAt('/health'));
  await expect(page.locator('.stage')).toHaveCount(5);
  await page.keyboard.press('p');
  await expect(page.getByRole('button', { name: 'Paused', exact: true })).toHaveAttribute('aria-pressed', 'true');
  await page.keyboard.press('p');
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeVisible();
});

test('the arrow keys move the focus between the tiles of the health map, and Enter opens one', async ({ desktop: page }) => {
  await page.goto(desktopAt('/health'));
  const tile = page.locator('.tiles .tile').first();
  await tile.focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.tiles .tile').nth(1)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.locator('.panel')).toBeVisible();
});

test('answers that did not change are not sent again', async ({ desktop: page }) => {
  const conditional: string[] = [];
  page.on('request', (r) => {
    if (r.headers()['if-none-match']) conditional.push(new URL(r.url()).pathname);
  });
  await page.goto(desktopAt('/gateways'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.getByRole('link', { name: /^Farms/ }).click();
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await expect.poll(() => conditional, { timeout: 60_000 }).toContain('/rest/monitor/overview');
});

// Incidents change what every other screen shows, so these run one after the other.
test.describe('incidents', () => {
  test.describe.configure({ mode: 'serial' });

  async function startIncident(page: Page, summary: RegExp): Promise<void> {
    await page.goto(desktopAt('/health'));
    await page.getByRole('button', { name: /^All \d+/ }).click();
    // Leaving the page before the server has answered would cancel the request.
    const answered = page.waitForResponse((r) => r.url().includes('/rest/demo/incidents/') && r.request().method() === 'POST');
    await page.getByRole('dialog').getByRole('switch', { name: summary }).click();
    expect((await answered).ok()).toBe(true);
  }

  test('a gateway that reports a problem is seen on the map, and mended', async ({ desktop: page }) => {
    await startIncident(page, /gw1\.corp\.example reports a problem/i);
    await page.getByRole('dialog').getByRole('button', { name: 'Done', exact: true }).click();
    await expect(page.locator('.stage').first().locator('.error')).not.toHaveCount(0, { timeout: 60_000 });
    await expect(page.locator('.problem-list')).toContainText('gw1');
    await page.getByRole('button', { name: 'Mend all', exact: true }).click();
    await expect(page.locator('.problem-list').getByText('gw1')).toHaveCount(0, { timeout: 60_000 });
  });

  test('a domain whose controller is down is one problem, and its parts are listed', async ({ desktop: page }) => {
    await startIncident(page, /controller of lab\.example is down/i);
    await page.getByRole('dialog').getByRole('button', { name: 'Done', exact: true }).click();
    await expect(page.locator('.problem-list')).toContainText('lab.example', { timeout: 60_000 });
    await page.goto(desktopAt('/domains'));
    await expect(page.locator('tbody tr').first()).toContainText('lab.example', { timeout: 60_000 });
    await expect(page.locator('.matrix')).toContainText('uncontactable');
    await page.goto(desktopAt('/history?q=lab.example'));
    await expect(page.locator('tbody tr').first()).toContainText('lab.example');
    await page.goto(desktopAt('/health'));
    await page.getByRole('button', { name: 'Mend all', exact: true }).click();
    await expect(page.getByText('Nothing is broken.')).toBeVisible();
  });

  test('an alert is acknowledged with a comment and silenced, and both are undone', async ({ desktop: page }) => {
    await startIncident(page, /gw1\.corp\.example reports a problem/i);
    await page.goto(desktopAt('/alerts?state=firing'));
    const row = page.locator('tbody tr', { hasText: 'gw1' }).first();
    await expect(row).toBeVisible({ timeout: 60_000 });
    await row.getByRole('button', { name: 'Acknowledge', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Comment').fill('I am on it');
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge', exact: true }).click();
    await expect(row).toContainText('I am on it');
    await row.getByRole('button', { name: 'Take back', exact: true }).click();
    await expect(row.getByRole('button', { name: 'Acknowledge', exact: true })).toBeVisible();
    await row.getByRole('button', { name: 'Silence', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('Maintenance');
    await page.getByRole('dialog').getByRole('button', { name: 'Silence', exact: true }).click();
    await expect(row).toContainText('Silent until');
    await row.getByRole('button', { name: 'End silence', exact: true }).click();
    await expect(row.getByRole('button', { name: 'Silence', exact: true })).toBeVisible();
    await page.goto(desktopAt('/health'));
    await page.getByRole('button', { name: 'Mend all', exact: true }).click();
    await expect(page.getByText('Nothing is broken.')).toBeVisible();
  });

  test('a farm whose agents fail is first on the wall', async ({ desktop: page }) => {
    await startIncident(page, /agent of farm-01 reports an error/i);
    await page.goto(desktopAt('/rds-servers'));
    await expect(page.locator('.wall-farm').first()).toContainText('farm-01', { timeout: 90_000 });
    await page.goto(desktopAt('/health'));
    await page.getByRole('button', { name: 'Mend all', exact: true }).click();
    await expect(page.getByText('Nothing is broken.')).toBeVisible();
  });
});

test('the wall shows every farm, and one opens beside it', async ({ desktop: page }) => {
  await page.goto(desktopAt('/rds-servers'));
  await expect(page.locator('.wall-farm')).toHaveCount(51);
  await page.locator('.wall-farm').nth(5).click();
  await expect(page.locator('.panel').getByRole('heading', { name: 'Servers' })).toBeVisible();
  await expect(page).toHaveURL(/farm=/);
  await page.keyboard.press('Escape');
  await expect(page.locator('.panel')).toHaveCount(0);
});

test('the arrow keys move between the tiles of the wall, and Enter opens a server', async ({ desktop: page }) => {
  await page.goto(desktopAt('/rds-servers'));
  await expect(page.locator('.wall-farm')).toHaveCount(51);
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowLeft']) await page.keyboard.press(key);
  await expect(page.locator('.tile-chosen')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/rds-servers\/[0-9a-f-]{36}/);
  await expect(page.locator('.panel')).toContainText('Load');
  await page.locator('.wall-farm').nth(5).click(); // the farm replaces the server
  await expect(page.locator('.panel').getByRole('heading', { name: 'Servers', exact: true })).toBeVisible();
});

for (const colour of ['sessions', 'state', 'version', 'system']) {
  test(`the wall is coloured by ${colour}`, async ({ desktop: page }) => {
    await page.goto(desktopAt('/rds-servers'));
    await page.getByLabel('Colour').selectOption(colour);
    await expect(page).toHaveURL(new RegExp(`color=${colour}`));
    await expect(page.locator('.wall-farm')).toHaveCount(51);
  });
}

test('the wall is grouped by the version of the agents', async ({ desktop: page }) => {
  await page.goto(desktopAt('/rds-servers'));
  await page.getByLabel('Group').selectOption('version');
  await expect(page).toHaveURL(/group=version/);
  await expect(page.locator('.wall-farm').first()).toBeVisible();
});

test('the table is the other view of the wall, and is searched', async ({ desktop: page }) => {
  await page.goto(desktopAt('/rds-servers'));
  await expect(page.locator('.wall-farm').first()).toBeVisible();
  await page.keyboard.press('v');
  await page.getByLabel('Search servers').fill('farm-09');
  await expect(page.locator('tbody tr')).toHaveCount(10);
});

/** Kinds of components, with a text that the panel of a component of the kind contains. */
const lists: Record<string, string> = {
  gateways: 'Connections',
  'connection-servers': 'Replication',
  domains: 'As connection servers see it',
  farms: 'Sessions',
  'virtual-centers': 'Hosts',
  pods: 'Endpoints',
  saml: 'As connection servers see it',
  'true-sso': 'Parts',
  composers: 'As connection servers see it',
};
for (const [kind, part] of Object.entries(lists)) {
  test(`one of the ${kind} opens beside its list`, async ({ desktop: page }) => {
    await page.goto(desktopAt(`/${kind}`));
    await page.locator('tbody th a').first().click();
    await expect(page.locator('.panel')).toContainText(part);
    await expect(page.locator('.panel').getByRole('heading', { name: 'Status' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page.locator('.panel')).toHaveCount(0);
  });
}

/** Waits until a chart shows a line: blue pixels in more than fifty columns; grid and labels are grey. */
const expectLine = (canvas: Locator) =>
  expect
    .poll(() =>
      canvas.evaluate((c: HTMLCanvasElement) => {
        const { data } = c.getContext('2d')!.getImageData(0, 0, c.width, c.height);
        const columns = new Set<number>();
        for (let i = 0; i < data.length; i += 4) if (data[i + 3]! > 100 && data[i + 2]! - data[i]! > 40) columns.add((i / 4) % c.width);
        return columns.size;
      }),
    )
    .toBeGreaterThan(50);

test('the event database shows how many events it has, now and over time', async ({ desktop: page }) => {
  await page.goto(desktopAt('/event-database'));
  await expect(page.locator('.panel-head')).toContainText('connected');
  await expect(page.locator('.event-database .kv')).toContainText(/Events[1-9]/);
  await expectLine(page.locator('.line-chart canvas'));
});

test('a list is filtered by status and searched', async ({ desktop: page }) => {
  await page.goto(desktopAt('/connection-servers'));
  await page.getByLabel('Search', { exact: true }).fill('cs1');
  await expect(page).toHaveURL(/q=cs1/);
  await expect(page.locator('.table tbody tr').first()).toContainText('cs1');
  await page.goto(desktopAt('/connection-servers?status=off'));
  await expect(page.getByText('None matches')).toBeVisible();
});

test('measures of a farm are drawn over time', async ({ desktop: page }) => {
  await page.goto(desktopAt('/farms'));
  await page.locator('tbody th a').first().click();
  await expectLine(page.locator('.panel .line-chart canvas'));
  await page.locator('.panel').getByRole('button', { name: '7 days', exact: true }).click();
  await expectLine(page.locator('.panel .line-chart canvas'));
});

test('J moves to a row of a list, and Enter opens its component', async ({ desktop: page }) => {
  await page.goto(desktopAt('/gateways'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page.locator('.panel')).toBeVisible();
});

test('an alert rule is prefilled from a component, saved, switched and deleted', async ({ desktop: page }, info) => {
  const name = `rule ${info.workerIndex} ${Date.now()}`;
  await page.goto(desktopAt('/gateways'));
  // Other scenarios break gw1 and look for its alerts; a rule about gw1 would add an alert that they do not expect.
  await page.locator('tbody').getByRole('link', { name: 'gw2', exact: true }).click();
  await page.getByRole('link', { name: 'Alert on this', exact: true }).click();
  await expect(page).toHaveURL(/kind=GATEWAY/);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Address of the webhook').fill('https://hooks.example/vigil');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  // Only in the list of rules: the list of alerts contains the name of the rule too.
  const row = page.getByRole('region', { name: 'Rules' }).getByRole('row').filter({ hasText: name });
  await expect(row).toContainText('the status of one gateway is');
  await row.getByRole('switch').click();
  await expect(row.getByRole('switch')).toHaveAttribute('aria-checked', 'false');
  await row.getByRole('button', { name: `Delete ${name}`, exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(row).toHaveCount(0);
});

test.describe('a domain account', () => {
  test.use({ expectsFailedAnswers: true });

  test('is added, refused when it exists already, and deleted after typing its name', async ({ desktop: page }, info) => {
    const name = `clone-joiner-${info.workerIndex}-${Date.now()}`;
    await page.goto(desktopAt('/domain-accounts'));
    await settled(page);
    const add = async () => {
      await page.getByRole('button', { name: /^Add/ }).first().click();
      await page.getByLabel('User name').fill(name);
      await page.getByLabel('Password').fill('not tried');
      await page.getByLabel('Verify the credentials with the domain first').uncheck();
      await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    };
    await add();
    await expect(page.getByRole('rowheader', { name })).toBeVisible();
    await add();
    await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.locator('tr', { hasText: name }).getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByLabel(/Type/).fill(name);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(page.getByRole('rowheader', { name })).toHaveCount(0);
  });

  test('with a wrong password is refused, and the dialog shows an error', async ({ desktop: page }) => {
    await page.goto(desktopAt('/domain-accounts'));
    await settled(page);
    await page.getByRole('button', { name: /^Add/ }).first().click();
    await page.getByLabel('User name').fill('nobody-of-that-name');
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
    await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible();
  });
});

for (const range of ['1 hour', '7 days', '30 days']) {
  test(`the history of ${range} is listed`, async ({ desktop: page }) => {
    await page.goto(desktopAt('/history'));
    await page.getByRole('button', { name: range, exact: true }).click();
    await expect(page.locator('tbody tr').first()).toBeVisible();
  });
}

test('the history is filtered by kind and text', async ({ desktop: page }) => {
  await page.goto(desktopAt('/history?range=30d'));
  await page.getByLabel('Kind').selectOption('FARM');
  await expect(page).toHaveURL(/kind=FARM/);
  await expect(page.locator('tbody tr').first()).toContainText('farm');
  await page.getByLabel('Search changes').fill('no such component');
  await expect(page.getByText('Nothing changed')).toBeVisible();
});

test('a monitoring key is made, shown once, and revoked', async ({ desktop: page }, info) => {
  const name = `key ${info.workerIndex} ${Date.now()}`;
  await page.goto(desktopAt('/admin/keys'));
  await page.getByRole('button', { name: 'New key', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByRole('dialog').locator('.secret')).not.toBeEmpty();
  await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
  const row = page.locator('tr', { hasText: name });
  await row.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(row).toHaveCount(0);
});

test("one's own sessions and the audit of the desktop server are listed", async ({ desktop: page }) => {
  await page.goto(desktopAt('/admin/sessions'));
  await expect(page.getByText('this one')).toBeVisible();
  await page.getByRole('link', { name: 'Audit', exact: true }).click();
  await expect(page.locator('tbody tr').first()).toBeVisible();
});

test('an enrolment token is made, shown once, and revoked', async ({ desktop: page }) => {
  await page.goto(desktopAt('/machines'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.getByRole('button', { name: 'Enrol', exact: true }).click();
  const made = page.waitForResponse((r) => r.request().method() === 'POST' && r.url().endsWith('/enrollment-tokens'));
  await page.getByRole('dialog').getByRole('button', { name: 'Create a token', exact: true }).click();
  await expect(page.getByRole('dialog').locator('.secret')).not.toBeEmpty();
  const { id } = (await (await made).json()) as { id: string };
  await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click();
  const row = page.locator(`[data-token="${id}"]`); // other scenarios make tokens too
  await row.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(row).toHaveCount(0);
});
