import { expect, postureAt, ready, settled, test } from './fixtures';

test.describe('single sign-on', () => {
  test.use({ expectsFailedAnswers: true });

  test('says that no group gives access, and a token can still be used', async ({ page }) => {
    await page.goto(postureAt('/overview'));
    await page.getByRole('link', { name: 'Continue with single sign-on', exact: true }).click();
    await page.getByRole('link', { name: 'Ned Nobody', exact: true }).click();
    await expect(page.getByRole('alert')).toContainText('none of your groups has access');
    await page.getByLabel('API token').fill(ready().api_token);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  });

  test('says that the identity provider is not available', async ({ page }) => {
    await page.route('**/console/sso/start*', (route) =>
      route.fulfill({ status: 303, headers: { Location: postureAt('/?sso=unavailable') } }),
    );
    await page.goto(postureAt('/overview'));
    await page.getByRole('link', { name: 'Continue with single sign-on', exact: true }).click();
    await expect(page.getByRole('alert')).toContainText('identity provider is not available');
    await expect(page.getByLabel('API token')).toBeVisible();
  });

  test('shows nothing but the accounts of the group', async ({ page }) => {
    await page.goto(postureAt('/accounts'));
    await page.getByRole('link', { name: 'Continue with single sign-on', exact: true }).click();
    await page.getByRole('link', { name: 'Vic Viewer', exact: true }).click();
    await settled(page);
    await expect(page.getByText('aws-demo-1').first()).toBeVisible();
    await expect(page.getByText('aws-demo-2')).toHaveCount(0);
    await expect(page.getByText('azure-demo-1')).toHaveCount(0);
    await page.goto(postureAt('/findings'));
    await settled(page);
    await expect(page.getByText('azure-demo-1')).toHaveCount(0);
    await page.goto(postureAt('/rules'));
    await expect(page.getByRole('heading', { name: 'Rules' })).toBeVisible();
  });
});

test.describe('limits', () => {
  test.use({ expectsFailedAnswers: true }); // the server refuses an admin token with a limit

  const created: string[] = []; // names of the user and of the token
  test.afterEach(async ({ api }) => {
    const names = created.splice(0);
    for (const path of ['/v1/api-tokens', '/v1/users']) {
      const { results } = (await (await api.get(path)).json()) as { results: { id: string; name: string }[] };
      for (const { id } of results.filter((r) => names.includes(r.name))) expect((await api.delete(`${path}/${id}`)).ok()).toBe(true);
    }
  });

  test('a user and a token are limited to accounts', async ({ posture: page }, info) => {
    const unique = `${info.workerIndex}-${Date.now()}`;
    const user = `Lena Limited ${unique}`;
    const token = `limited-${unique}`;
    created.push(user, token);
    await page.goto(postureAt('/admin/users'));
    await page.getByRole('button', { name: 'New user', exact: true }).click();
    await page.getByLabel('Name').fill(user);
    const account = page.getByLabel('Limited to accounts', { exact: true });
    await account.fill('no such account');
    await account.press('Enter');
    await expect(page.getByText('is not an option')).toBeVisible();
    await page.getByLabel('Limited to accounts with a tag').fill('team=payments');
    await page.getByLabel('Limited to accounts with a tag').press('Enter');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const row = page.getByRole('row', { name: user });
    await expect(row.getByText('some accounts')).toBeVisible();
    await row.getByRole('button', { name: 'Change', exact: true }).click();
    await expect(page.getByText('team=payments')).toBeVisible();
    await page.getByRole('button', { name: 'Remove team=payments', exact: true }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(row.getByText('some accounts')).toHaveCount(0);

    await page.goto(postureAt('/admin/tokens'));
    await page.getByRole('button', { name: 'New token', exact: true }).click();
    await page.getByLabel('Name').fill(token);
    await page.getByLabel('Role').selectOption('admin');
    await page.getByLabel('Limited to accounts with a tag').fill('team=payments');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await expect(page.getByText('an admin manages the whole organisation').first()).toBeVisible();
    await page.getByLabel('Role').selectOption('viewer');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.keyboard.press('Escape');
    await expect(page.getByRole('row', { name: token }).getByText('some accounts')).toBeVisible();
  });
});
