import { expect, postureAt, test } from './fixtures';

const rule = 'aws-ec2-metadata-theft';
const account = '111111111111';

// In the demo this rule can judge every resource, so the scenario replaces the answers of the server.
test('the resources that a rule cannot judge are listed with what could not be read', async ({ posture: page }) => {
  const entity = {
    entityId: `AWS.EC2.${account}.eu-west-1.Instance.i-1`,
    entityName: 'hidden-vm',
    entityType: 'AWS.EC2.Instance',
    provider: 'aws',
    cloudAccountId: account,
    region: 'eu-west-1',
    properties: [],
    tags: {},
  };
  await page.route('**/v1/rules/verdicts-query', (route) =>
    route.fulfill({
      json: {
        totalCount: 1,
        results: [{ ruleId: rule, cloudAccountId: account, violating: 1, passing: 2, unknown: 1, notApplicable: 4 }],
        unread: [{ cloudAccountId: account, entityType: 'AWS.EC2.Instance', region: 'eu-north-1', why: 'access denied' }],
      },
    }),
  );
  await page.route(`**/v1/rules/${rule}/unknown-query`, (route) =>
    route.fulfill({ json: { totalCount: 1, results: [{ entity, reasons: ['metadataHttpTokens: access denied'] }] } }),
  );
  await page.goto(postureAt('/rules?unknown=yes'));
  const row = page.locator('tbody tr');
  await expect(row).toHaveCount(1);
  const [findings, unknown, passing, notApplicable] = [/\d/, '1', '2', '4'];
  await expect(row.locator('td.num')).toHaveText([findings, unknown, passing, notApplicable]);
  await row.locator('td.c-unknown a').click();
  await expect(page).toHaveURL(/\/unknown$/);
  await expect(page.locator('tbody tr')).toContainText(['hidden-vm']);
  await expect(page.getByRole('cell', { name: 'metadataHttpTokens: access denied', exact: true })).toBeVisible();
  await expect(page.locator('.region', { hasText: 'Not listed' })).toContainText('eu-north-1: access denied');
});

test('a rule that can judge every resource says so', async ({ posture: page }) => {
  await page.goto(postureAt(`/rules/${rule}/unknown`));
  await expect(page.getByText('No resource is unknown')).toBeVisible();
});

test('a rule that does not apply to a resource of its type is not applicable, not unknown', async ({ posture: page }) => {
  await page.route('**/v1/entities/*/verdicts', (route) =>
    route.fulfill({
      json: {
        results: [
          { ruleId: 'a', ruleName: 'Rule A', level: 'High', verdict: 'NotApplicable' },
          { ruleId: 'b', ruleName: 'Rule B', level: 'Low', verdict: 'Unknown' },
        ],
        unread: [],
      },
    }),
  );
  await page.goto(postureAt(`/findings?rule=${rule}`));
  await page.locator('.finding-link').first().click();
  await page.getByRole('link', { name: 'Open resource', exact: true }).click();
  await expect(page.getByText('1 rule is about its type, but not about this resource: not applicable')).toBeVisible();
  await expect(page.locator('.c-unknown', { hasText: 'Unknown' })).toHaveCount(1);
});

test('a type that was not listed makes a control unknown, with the reason', async ({ posture: page }) => {
  await page.route('**/v1/compliance-frameworks/cis-aws-3.0/posture', async (route) => {
    const answer = (await (await route.fetch()).json()) as { results: Record<string, unknown>[] };
    const control = answer.results.find((c) => (c.ruleIds as string[]).length > 0) ?? {};
    Object.assign(control, {
      violating: 0,
      unknown: 0,
      passing: 5,
      notApplicable: 3,
      notListed: 1,
      unread: [{ cloudAccountId: account, entityType: 'AWS.IAM.User', region: '', why: 'access denied' }],
    });
    await route.fulfill({ json: { ...answer, results: [control] } });
  });
  await page.goto(postureAt('/compliance/cis-aws-3.0'));
  const row = page.locator('.control-row');
  await expect(row).toHaveCount(1);
  await expect(row).toContainText('Unknown');
  await expect(row).toContainText('1 type not listed');
  await row.getByRole('button').click();
  await expect(page.getByText('AWS.IAM.User in every region was not listed: access denied')).toBeVisible();
});
