import type { APIRequestContext, Page } from '@playwright/test';
import { check } from './axe';
import { desktopAt, expect, logInTo, postureAt, settled, test } from './fixtures';

test.describe.configure({ timeout: 300_000 }); // as for screens

// What lies above or beside a screen: drawers, panels, tabs, menus and dialogs.

test('axe finds nothing on a finding and its resource', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  await expect(page.locator('.drawer .path').first()).toBeVisible();
  await check(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('link', { name: 'Open resource' }).click();
  await expect(page.locator('.graph-card.me')).toBeVisible();
  await check(page);
});

test('axe finds nothing on an account', async ({ posture: page }) => {
  await page.goto(postureAt('/accounts'));
  await page.getByRole('link', { name: /aws-demo-1/ }).click();
  await expect(page.getByText('types read completely')).toBeVisible();
  await check(page);
});

test('axe finds nothing on a component beside its list', async ({ desktop: page }) => {
  await page.goto(desktopAt('/farms'));
  await page.locator('tbody th a').first().click();
  await expect(page.locator('.panel .line-chart')).toBeVisible();
  await check(page);
});

/** Panels beside a list of the desktop. */
for (const kind of ['connection-servers', 'gateways', 'domains', 'virtual-centers', 'pods', 'saml', 'true-sso', 'composers']) {
  test(`axe finds nothing on the panel of ${kind}`, async ({ desktop: page }) => {
    await page.goto(desktopAt(`/${kind}`));
    await page.locator('tbody th a').first().click();
    await expect(page.locator('.panel').getByRole('heading', { name: 'Status' })).toBeVisible();
    await check(page);
  });
}

test('axe finds nothing on a farm and a server beside the wall', async ({ desktop: page }) => {
  await page.goto(desktopAt('/rds-servers'));
  await page.locator('.wall-farm:not(:disabled)').first().click();
  await expect(page.locator('.panel').getByRole('heading', { name: 'Servers' })).toBeVisible();
  await check(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page.locator('.panel')).toContainText('Load');
  await check(page);
});

for (const tab of ['Stream', 'Credential', 'Settings']) {
  test(`axe finds nothing on the tab ${tab} of an account`, async ({ posture: page }) => {
    await page.goto(postureAt('/accounts'));
    await page.getByRole('link', { name: /aws-demo-1/ }).click();
    await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: tab }).click();
    await check(page);
  });
}

test('axe finds nothing on selected findings and an open menu', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await page.locator('.finding').first().getByRole('checkbox').check();
  await page.locator('.finding-link').nth(1).click();
  await page.getByRole('button', { name: 'More actions' }).click();
  await expect(page.getByRole('menu')).toBeVisible();
  await check(page);
});

test.describe('without a session', () => {
  test.use({ failing: true }); // the session is asked for and refused

  test('axe finds nothing on the screen to log in', async ({ page }) => {
    for (const address of [postureAt('/findings'), desktopAt('/health')]) {
      await page.goto(address);
      await expect(page.getByRole('button', { name: 'Log in' }).first()).toBeVisible();
      await check(page, false);
    }
  });
});

/** Opens a dialog of a domain account, which the demo may not have. */
async function domainAccount(page: Page, action: string): Promise<void> {
  await page.route('**/ic-domain-accounts', (route) =>
    route.fulfill({ json: [{ id: 'a1', username: 'clone-joiner', ad_domain_id: 'd1' }] }),
  );
  await page.reload();
  await page.getByRole('button', { name: action }).click();
}

/** Dialogs: how each is opened. */
const dialogs: [string, 'posture' | 'desktop', string, (page: Page, api: APIRequestContext) => Promise<void>][] = [
  [
    'suppress',
    'posture',
    '/findings',
    async (page) => {
      await expect(page.locator('.finding').first()).toBeVisible();
      await page.keyboard.press('j');
      await page.keyboard.press('s');
    },
  ],
  ['add a filter', 'posture', '/findings', (page) => page.getByRole('button', { name: 'Filter', exact: true }).click()],
  ['keep a view', 'posture', '/findings?level=High', (page) => page.getByRole('button', { name: 'Keep view' }).click()],
  [
    'keys',
    'posture',
    '/overview',
    async (page) => {
      await settled(page);
      await page.keyboard.press('?');
    },
  ],
  [
    'jump',
    'posture',
    '/overview',
    async (page) => {
      await settled(page);
      await page.keyboard.press('Control+k');
    },
  ],
  ['new user', 'posture', '/admin/users', (page) => page.getByRole('button', { name: 'New user' }).click()],
  ['new token', 'posture', '/admin/tokens', (page) => page.getByRole('button', { name: 'New token' }).click()],
  ['new framework', 'posture', '/compliance', (page) => page.getByRole('button', { name: 'New', exact: true }).click()],
  ['versions of a rule', 'posture', '/rules/aws-ec2-metadata-theft', (page) => page.getByRole('button', { name: 'History' }).click()],
  [
    'new mute rule',
    'posture',
    '/mute-rules?new=yes&rule=aws-ec2-metadata-theft',
    async (page) => {
      await expect(page.locator('.mute-preview .risk').first()).toBeVisible();
    },
  ],
  [
    'columns',
    'posture',
    '/inventory?type=AWS.EC2.Volume',
    async (page) => {
      await expect(page.locator('tbody tr').first()).toBeVisible();
      await page.keyboard.press('v');
    },
  ],
  ['break something', 'desktop', '/health', (page) => page.getByRole('button', { name: /^All \d+/ }).click()],
  [
    'domain account',
    'desktop',
    '/domain-accounts',
    async (page) => {
      await settled(page);
      await page.keyboard.press('n');
    },
  ],
  ['monitoring key', 'desktop', '/admin/keys', (page) => page.getByRole('button', { name: 'New key' }).click()],
  ['enrol', 'desktop', '/machines', (page) => page.getByRole('button', { name: 'Enrol' }).click()],
  [
    'new channel',
    'posture',
    '/notifications/channels?new=yes',
    (page) =>
      page
        .getByLabel('Type', { exact: true })
        .selectOption('E-mail')
        .then(() => undefined),
  ],
  [
    'new notification rule without a channel',
    'posture',
    '/notifications/rules?new=yes',
    async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('axe');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      await expect(page.getByText('Choose a channel.')).toBeVisible();
    },
  ],
  ['change a user', 'posture', '/admin/users', (page) => page.getByRole('button', { name: 'Change' }).first().click()],
  [
    'delete a user',
    'posture',
    '/admin/users',
    async (page, api) => {
      const name = `axe ${Date.now()}`; // the only other user is the caller, who cannot delete itself
      expect((await api.post('/v1/users', { data: { name, role: 'viewer' } })).ok()).toBe(true);
      await page.reload();
      await page.locator('tbody tr', { hasText: name }).getByRole('button', { name: 'Delete' }).click();
    },
  ],
  ['revoke a token', 'posture', '/admin/tokens', (page) => page.getByRole('button', { name: 'Revoke' }).first().click()],
  [
    'delete an account',
    'posture',
    '/accounts',
    async (page) => {
      await page.getByRole('link', { name: /aws-demo-1/ }).click();
      await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: 'Settings' }).click();
      await page
        .getByRole('main')
        .getByRole('button', { name: /^Delete/ })
        .click();
    },
  ],
  [
    'compare two changes',
    'posture',
    '/findings?rule=aws-ec2-metadata-theft',
    async (page) => {
      const change = (n: number) => ({
        lastUpdateTime: `2026-11-0${n}T10:00:00Z`,
        propertyChanges: { state: { changeType: 'UPDATE', oldValue: String(n), newValue: String(n + 1) } },
      });
      await page.route('**/changelog', (route) => route.fulfill({ json: { changeLog: [change(1), change(2)] } }));
      await page.locator('.finding-link').first().click();
      await page.getByRole('link', { name: 'Open resource' }).click();
      await page.getByRole('button', { name: 'Compare' }).click();
    },
  ],
  [
    'leave a rule',
    'posture',
    '/rules/new',
    async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Not saved');
      await page.getByRole('link', { name: 'Rules', exact: true }).last().click();
    },
  ],
  ['revoke a machine', 'desktop', '/machines', (page) => page.getByRole('button', { name: /^Revoke gw1/ }).click()],
  [
    'silence',
    'desktop',
    '/alerts',
    (page) =>
      page
        .getByRole('button', { name: /^Silence/ })
        .first()
        .click(),
  ],
  ['password of a domain account', 'desktop', '/domain-accounts', (page) => domainAccount(page, 'Change password')],
  ['delete a domain account', 'desktop', '/domain-accounts', (page) => domainAccount(page, 'Delete')],
  [
    'assess a control',
    'posture',
    '/compliance/cis-aws-7.0',
    (page) =>
      page
        .getByRole('button', { name: /^Assess control/ })
        .first()
        .click(),
  ],
  ['schedule of the organisation', 'posture', '/accounts', (page) => page.getByRole('button', { name: /^Schedule: every/ }).click()],
  [
    'jump on the desktop',
    'desktop',
    '/health',
    async (page) => {
      await settled(page);
      await page.keyboard.press('Control+k');
    },
  ],
];
for (const [name, server, path, open] of dialogs) {
  test(`axe finds nothing on the dialog ${name}`, async ({ page, api }) => {
    await logInTo(page, server);
    await page.goto(server === 'posture' ? postureAt(path) : desktopAt(path));
    await open(page, api);
    await expect(page.getByRole('dialog')).toBeVisible();
    await check(page);
  });
}

test.describe('a change that someone else made', () => {
  test.use({ failing: true }); // saving is refused

  test('axe finds nothing on the dialog of a conflict', async ({ posture: page }) => {
    await page.route('**/v1/users/*', (route) =>
      route.request().method() === 'GET' ? route.continue() : route.fulfill({ status: 412, json: { message: 'it has another version' } }),
    );
    await page.goto(postureAt('/admin/users'));
    await page.getByRole('button', { name: 'Change' }).first().click();
    await page.getByRole('dialog').getByLabel('Name').fill('Another name');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await expect(page.getByRole('dialog', { name: 'Someone else saved a change' })).toBeVisible();
    await check(page);
  });
});
