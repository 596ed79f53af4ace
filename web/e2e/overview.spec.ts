import { expect, postureAt, test } from './fixtures';

test('the overview names rules without loading all of them', async ({ posture: page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.goto(postureAt('/overview'));
  const rules = page.locator('.region', { has: page.getByRole('heading', { name: 'Rules that find most' }) });
  await expect(rules.getByRole('listitem')).toHaveCount(9);
  await expect(rules.getByRole('listitem').filter({ hasText: /(aws|azure|gcp)-[a-z]+-/ })).toHaveCount(0);
  await expect(rules.getByRole('link', { name: /^[\d,]+ rules$/ })).toBeVisible();
  expect(asked).toContain('POST /v1/rules/query');
  expect(asked).not.toContain('GET /v1/rules');
});

test('the overview says what raised and resolved count', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  const open = page.locator('.ledger a').first();
  await expect(open).toContainText(/\+[\d,]+ raised, −[\d,]+ resolved today/);
  await expect(open).toHaveAccessibleDescription(/counts each time it is raised or resolved/);
});
