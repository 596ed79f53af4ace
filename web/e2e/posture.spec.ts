import { expect, postureAt, ready, test } from './fixtures';

test('the login takes an API token and comes back to the same address', async ({ page }) => {
  await page.goto(postureAt('/findings?level=High'));
  await page.getByLabel('API token').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await page.getByLabel('API token').fill(ready().api_token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect(page.getByRole('heading', { name: 'Findings' })).toBeVisible();
  expect(page.url()).toContain('level=High');
});

test('a figure of the overview opens the list it counts', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  const figure = page.locator('.ledger a', { hasText: 'High' });
  await expect(figure.locator('.figure')).toHaveText(/^[1-9]/);
  await figure.click();
  await expect(page.locator('.list-head b')).toContainText('finding');
  expect(page.url()).toContain('level=High');
});

test('facets narrow the list, and the address can be shared', async ({ posture: page, context }) => {
  await page.goto(postureAt('/findings'));
  await page.locator('.facet-value', { hasText: 'EC2' }).locator('input').check();
  await expect(page).toHaveURL(/service=EC2/);
  await expect(page.locator('.chip', { hasText: 'Service' })).toBeVisible();
  const text = await page.locator('.list-head b').innerText();
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.locator('.list-head b')).toHaveText(text);
});

test('a search that finds nothing says what to remove', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=High&q=nothing-has-this-name'));
  await expect(page.getByRole('heading', { name: 'No finding matches' })).toBeVisible();
  await page.getByRole('button', { name: 'Remove Text' }).last().click();
  await expect(page.locator('.finding').first()).toBeVisible();
});

test('the drawer opens beside the list with risk, picture and advice, and Esc closes it', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  const drawer = page.locator('.drawer');
  await expect(drawer.getByRole('heading', { name: 'Risk' })).toBeVisible();
  await expect(drawer.getByRole('heading', { name: 'What to do' })).toBeVisible();
  await expect(drawer.locator('.path').first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(drawer).toHaveCount(0);
});

test('keys walk the list and open a finding', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page.locator('.drawer')).toBeVisible();
  expect(page.url()).toContain('f=');
});

test('a finding is suppressed with a reason, and the suppression is undone', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=Low'));
  await page.locator('.finding-link').first().click();
  await page.locator('.drawer').getByRole('button', { name: 'Suppress' }).click();
  await page.getByLabel('Reason').fill('Accepted until the load balancer moves');
  await page.getByRole('button', { name: 'Suppress', exact: true }).last().click();
  await expect(page.locator('.drawer').getByText('Accepted until the load balancer moves')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.locator('.drawer').getByRole('button', { name: 'Suppress' })).toBeVisible();
});

test('groups open in place', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?group=rule'));
  await page.locator('.group-head').first().click();
  await expect(page.locator('.grouped .finding').first()).toBeVisible();
});

test('a resource shows its graph, findings and properties', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  await page.getByRole('link', { name: 'Open resource' }).click();
  await expect(page.locator('.graph-card.me')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Properties' })).toBeVisible();
  await page.getByRole('button', { name: 'Neighbours' }).click();
  await expect(page.locator('.graph-card').nth(3)).toBeVisible();
});

test('a query runs, an error has its place, and the mended one runs', async ({ posture: page }) => {
  await page.goto(postureAt('/explore'));
  const editor = page.getByRole('textbox', { name: 'Query' });
  await editor.fill("g.V().hasLabel('AWS.EC2.Instance'");
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('.note.error')).toBeVisible();
  await editor.fill("g.V().hasLabel('AWS.EC2.Instance').limit(3)");
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('.table tbody tr').first()).toBeVisible();
});

test('a rule is tried before it is kept', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/new'));
  await page.getByRole('textbox', { name: 'Query' }).fill("g.V().hasLabel('AWS.EC2.Instance').has('metadataHttpEndpoint', 'enabled')");
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.locator('.dry-summary')).toContainText('If you enable it');
  await expect(page.locator('.dry .table tbody tr').first()).toBeVisible();
});

test('a native rule is read-only and can be copied', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/aws-ec2-metadata-theft'));
  await page.getByRole('link', { name: 'Copy as custom' }).click();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue(/\(copy\)$/);
});

test('compliance opens a control and leads to its findings', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-3.0?control=5.2'));
  await expect(page.locator('.rule-row').first()).toBeVisible();
  await page.locator('.rule-row .link').first().click();
  await expect(page).toHaveURL(/findings\?rule=/);
});

test('the wizard links an account by hand and follows its first read', async ({ posture: page }) => {
  const { sim } = ready();
  await page.goto(postureAt('/accounts/link/aws/access?way=hand'));
  await page.getByLabel('Name').fill('aws-by-hand');
  await page.getByLabel('Account id').fill(sim.aws_account_id ?? '');
  await page.getByLabel('ARN of the role').fill(sim.aws_role_arn ?? '');
  await page.getByLabel('External id').fill(sim.aws_external_id ?? '');
  await page.getByRole('button', { name: 'Link the account' }).click();
  await expect(page.getByRole('heading', { name: 'aws-by-hand can be read' })).toBeVisible({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Go on' }).click();
  await expect(page.getByRole('heading', { name: 'Have changes told as they happen' })).toBeVisible();
});

test('the jump box goes to a screen by name', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  await expect(page.locator('.ledger')).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or jump to' }).fill('compl');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/compliance/);
});

test('G and a letter go to a screen', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  await expect(page.locator('.ledger')).toBeVisible();
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await expect(page).toHaveURL(/\/rules/);
});

test('what a viewer may not do is shown, off, and says the role', async ({ viewer: page }) => {
  await page.goto(postureAt('/accounts'));
  const button = page.getByRole('button', { name: 'Link an account' });
  await expect(button).toBeDisabled();
  await expect(button).toHaveAttribute('title', /admin/);
});

for (const status of [403, 404, 429, 500, 503]) {
  test(`an answer of ${status} is told in words`, async ({ posture: page }) => {
    await page.route('**/v2/findings/query', (route) => route.fulfill({ status, contentType: 'application/json', headers: { 'X-Request-Id': 'REQUEST1', 'Retry-After': '60' }, body: JSON.stringify({ message: 'as the server says', statusCode: status }) }));
    await page.goto(postureAt('/findings'));
    await expect(page.getByRole('alert').first()).toBeVisible({ timeout: 60_000 });
    await expect(page.locator('.nav')).toBeVisible();
  });
}

test('an answer that makes no sense does not leave a blank page', async ({ posture: page }) => {
  await page.route('**/v2/findings/query', (route) => route.fulfill({ status: 200, contentType: 'application/json', body: '{"results":' }));
  await page.goto(postureAt('/findings'));
  await expect(page.getByRole('alert').first()).toBeVisible();
});

test('a lost server is told, and what was known stays', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.route(/\/(v1|v2|console\/config)/, (route) => route.abort());
  await page.locator('.facet-value', { hasText: 'High' }).locator('input').check();
  await expect(page.getByText('Not reached since')).toBeVisible();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try now' }).first().click();
  await expect(page.getByText('Not reached since')).toHaveCount(0);
});

test('the theme is kept', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});
