import { expect, postureAt, test } from './fixtures';

test('the overview names rules without loading all of them', async ({ posture: page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.goto(postureAt('/overview'));
  const rules = page.locator('.region', { has: page.getByRole('heading', { name: 'Rules that find most' }) });
  await expect(rules.getByRole('listitem')).toHaveCount(9);
  // The items have names, not ids such as aws-ec2-sg-ssh-open.
  await expect(rules.getByRole('listitem').filter({ hasText: /(aws|azure|gcp)-[a-z]+-/ })).toHaveCount(0);
  await expect(rules.getByRole('link', { name: /^[\d,]+ rules$/ })).toBeVisible();
  expect(asked).toContain('POST /v1/rules/query');
  expect(asked).not.toContain('GET /v1/rules');
});

test('the overview says what is counted as raised and as resolved', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  const open = page.locator('.ledger a').first();
  await expect(open).toContainText(/\+[\d,]+ raised, −[\d,]+ resolved today/);
  await expect(open).toHaveAccessibleDescription(/counts each time it is raised or resolved/);
});

test('the overview of one account covers only it, and leads to its findings', async ({ posture: page, api }) => {
  const answer = await api.post('/v1/cloud-accounts/query', { data: {} });
  const found = (await answer.json()) as { cloudAccounts: { cloudAccountId: string; cloudAccountName: string }[] };
  const id = found.cloudAccounts.find((a) => a.cloudAccountName === 'aws-demo-1')?.cloudAccountId ?? '';
  // Another scenario may read a resource of the account again; while that run lasts the account is not current.
  const at = new Date().toISOString();
  const progress = { done: 1, total: 1, entities: 1 };
  const lastCollection = { collectionId: 'fixed', status: 'Completed', startTime: at, endTime: at, progress };
  const accounts = { ...found, cloudAccounts: found.cloudAccounts.map((a) => ({ ...a, lastCollection })) };
  await page.route('**/v1/cloud-accounts/query', (route) => route.fulfill({ json: accounts }));
  await page.goto(postureAt(`/overview?account=${id}`));
  const region = (name: string) => page.locator('.region', { has: page.getByRole('heading', { name, exact: true }) });
  await expect(region('Coverage')).toContainText('1 of 1 account is current');
  await expect(region('Coverage')).not.toContainText(/(azure|gcp)-demo/);
  const account = new RegExp(`[?&]account=${id}(&|$)`);
  await expect(page.getByRole('link', { name: 'All by risk', exact: true })).toHaveAttribute('href', account);
  for (const list of ['Riskiest resources', 'Rules that find most'])
    await expect(region(list).getByRole('listitem').first().getByRole('link')).toHaveAttribute('href', account);
});

test('an unknown range in the address selects the default range', async ({ posture: page }) => {
  await page.goto(postureAt('/overview?range=toString')); // a member of every object, but not a range
  await expect(page.getByRole('group', { name: 'Range' }).getByRole('button', { name: '30 days' })).toHaveAttribute('aria-pressed', 'true');
  await expect(page.locator('.trend')).toBeVisible();
});

test('the label of the trend has the newest count, whichever day is pointed at', async ({ posture: page }) => {
  const trend = { buckets: { '2026-11-17T00:00:00Z': { count: 3 }, '2026-11-18T00:00:00Z': { count: 7 } } };
  await page.route('**/v2/findings/trends-query', (route) =>
    route.fulfill({ json: { results: { Open: trend, New: trend, Resolved: trend }, groups: { High: { Open: trend } } } }),
  );
  await page.goto(postureAt('/overview'));
  const chart = page.getByRole('img', { name: 'Open findings over time' });
  await chart.hover({ position: { x: 50, y: 100 } });
  await expect(page.locator('.trend-at')).toContainText('3 open, 3 raised, 3 resolved');
  await expect(chart).toHaveAccessibleName(/; 7 now/);
});

test.describe('accounts that cannot be read', () => {
  test.use({ expectsFailedAnswers: true });
  test('make the overview say that the coverage could not be read', async ({ posture: page }) => {
    await page.route('**/v1/cloud-accounts/query', (route) => route.fulfill({ status: 500, json: { message: 'internal error' } }));
    await page.goto(postureAt('/overview'));
    const coverage = page.locator('.region', { has: page.getByRole('heading', { name: 'Coverage', exact: true }) });
    await expect(coverage.getByRole('alert')).toContainText('Coverage could not be read');
  });
});
