import type { APIRequestContext, Page } from '@playwright/test';
import { expect, settled } from './fixtures';

/** Opens a dialog of a domain account. The account is not in the demo: the request for the accounts gets a prepared answer. */
async function domainAccount(page: Page, action: string): Promise<void> {
  await page.route('**/ic-domain-accounts', (route) =>
    route.fulfill({ json: [{ id: 'a1', username: 'clone-joiner', ad_domain_id: 'd1' }] }),
  );
  await page.reload();
  await page.getByRole('button', { name: action, exact: true }).click();
}

/** Every dialog: its name, the server and the address of its screen, and how it is opened. Checked with axe and photographed. */
export const dialogs: [string, 'posture' | 'desktop', string, (page: Page, api: APIRequestContext) => Promise<void>][] = [
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
  ['keep a view', 'posture', '/findings?level=High', (page) => page.getByRole('button', { name: 'Keep view', exact: true }).click()],
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
  ['new user', 'posture', '/admin/users', (page) => page.getByRole('button', { name: 'New user', exact: true }).click()],
  ['new token', 'posture', '/admin/tokens', (page) => page.getByRole('button', { name: 'New token', exact: true }).click()],
  ['new framework', 'posture', '/compliance', (page) => page.getByRole('button', { name: 'New', exact: true }).click()],
  [
    'versions of a rule',
    'posture',
    '/rules/aws-ec2-metadata-theft',
    (page) => page.getByRole('button', { name: 'History', exact: true }).click(),
  ],
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
  ['monitoring key', 'desktop', '/admin/keys', (page) => page.getByRole('button', { name: 'New key', exact: true }).click()],
  ['enrol', 'desktop', '/machines', (page) => page.getByRole('button', { name: 'Enrol', exact: true }).click()],
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
  ['change a user', 'posture', '/admin/users', (page) => page.getByRole('button', { name: 'Change', exact: true }).first().click()],
  [
    'delete a user',
    'posture',
    '/admin/users',
    async (page, api) => {
      const name = `axe ${Date.now()}`; // the only other user is the caller, who cannot delete itself
      expect((await api.post('/v1/users', { data: { name, role: 'viewer' } })).ok()).toBe(true);
      await page.reload();
      await page.locator('tbody tr', { hasText: name }).getByRole('button', { name: 'Delete', exact: true }).click();
    },
  ],
  ['revoke a token', 'posture', '/admin/tokens', (page) => page.getByRole('button', { name: 'Revoke', exact: true }).first().click()],
  [
    'delete an account',
    'posture',
    '/accounts',
    async (page) => {
      await page.getByRole('link', { name: /aws-demo-1/ }).click();
      await page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: 'Settings', exact: true }).click();
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
      await page.getByRole('link', { name: 'Open resource', exact: true }).click();
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
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
