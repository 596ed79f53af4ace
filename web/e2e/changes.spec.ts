import { expect, openResource, postureAt, test } from './fixtures';

test('changes of a resource are shown', async ({ posture: page }) => {
  await openResource(page);
  await expect(page.getByRole('heading', { name: 'Changes' })).toBeVisible();
  await expect(page.getByText(/first read|Nothing has changed/).first()).toBeVisible();
});

test('changes of other resources around the same time are shown', async ({ posture: page }) => {
  await openResource(page);
  const views = page.getByRole('group', { name: 'Changes' });
  await views.getByRole('button', { name: 'Others', exact: true }).click();
  await expect(page.getByText('Nothing else changed').or(page.locator('.timeline li').first())).toBeVisible();
  await views.getByRole('button', { name: 'This', exact: true }).click();
  await expect(page.getByText('first read').first()).toBeVisible();
});

test('a long change log says what it leaves out, and shows it', async ({ posture: page }) => {
  const entry = (n: number, changes: number) => ({
    lastUpdateTime: new Date(Date.UTC(2026, 10, 1, n)).toISOString(),
    propertyChanges: Object.fromEntries(
      Array.from({ length: changes }, (_, i) => [`property${i}`, { changeType: 'ADD', newValue: `value ${n}` }]),
    ),
  });
  // The last entry is the newest change, which the page shows first.
  await page.route('**/changelog', (route) =>
    route.fulfill({ json: { changeLog: Array.from({ length: 40 }, (_, n) => entry(n, n === 39 ? 20 : 5)) } }),
  );
  await openResource(page);
  const entries = page.locator('.timeline li');
  await expect(entries).toHaveCount(30);
  await expect(page.getByText('first read')).toHaveCount(0);
  await expect(entries.first()).toContainText('12 of 20 differences');
  await entries.first().getByRole('button', { name: 'Show all', exact: true }).click();
  await expect(entries.first().locator('.diff tr')).toHaveCount(20);
  await expect(page.getByText('30 of 40 changes')).toBeVisible();
  await page.getByRole('button', { name: 'Show older changes', exact: true }).click();
  await expect(entries).toHaveCount(40);
  await expect(entries.last()).toContainText('first read');
  await expect(page.getByRole('button', { name: 'Show older changes', exact: true })).toHaveCount(0);
});

test('more changes of other resources around the same time are loaded', async ({ posture: page }) => {
  const change = (n: number) => ({
    changeType: 'UPDATE',
    cause: 'Event',
    entityId: `AWS.EC2.1.r.Volume.vol-${n}`,
    entityName: `vol-${n}`,
    entityType: 'AWS.EC2.Volume',
    cloudAccountId: '1',
    region: 'r',
    lastUpdateTime: `2026-11-01T10:00:0${n}Z`,
    propertyChanges: Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { changeType: 'ADD', newValue: n }])),
  });
  await page.route('**/changes-query', (route) => {
    const { paginationInfo } = route.request().postDataJSON() as { paginationInfo: { continuationToken?: string } };
    return route.fulfill({
      json: paginationInfo.continuationToken ? { results: [change(1)] } : { results: [change(2)], continuationToken: 'next' },
    });
  });
  await openResource(page);
  await page.getByRole('group', { name: 'Changes' }).getByRole('button', { name: 'Others', exact: true }).click();
  const entries = page.locator('.timeline li');
  await expect(entries).toHaveCount(1);
  await expect(entries.first()).toContainText('3 of 4 differences');
  await page.getByRole('button', { name: 'Show older changes', exact: true }).click();
  await expect(entries).toHaveCount(2);
});

test('two changes of a resource are compared', async ({ posture: page }) => {
  const entry = (n: number, old: string, now: string) => ({
    lastUpdateTime: `2026-11-0${n}T10:00:00Z`,
    propertyChanges: { metadataHttpTokens: { changeType: 'UPDATE', oldValue: old, newValue: now } },
  });
  await page.route('**/changelog', (route) =>
    route.fulfill({ json: { changeLog: [entry(1, 'a', 'b'), entry(2, 'b', 'c'), entry(3, 'c', 'd')] } }),
  );
  await openResource(page);
  await expect(page.locator('.timeline li')).toHaveCount(3);
  await page.keyboard.press('d');
  const dialog = page.getByRole('dialog', { name: 'Compare two changes' });
  // The text of a row: the property, its state after the first change (b) and after the last (d).
  await expect(dialog.locator('.diff tr')).toHaveText('metadataHttpTokensbd');
  await dialog.getByLabel('and after').selectOption({ index: 1 });
  await expect(dialog.locator('.diff tr')).toHaveText('metadataHttpTokensbc');
});

test.describe('a resource that is gone', () => {
  test.use({ expectsFailedAnswers: true });
  test('has changes that can be compared', async ({ posture: page }) => {
    const entry = (n: number, old: string, now: string) => ({
      lastUpdateTime: `2026-11-0${n}T10:00:00Z`,
      propertyChanges: { metadataHttpTokens: { changeType: 'UPDATE', oldValue: old, newValue: now } },
    });
    await page.route('**/changelog', (route) => route.fulfill({ json: { changeLog: [entry(1, 'a', 'b'), entry(2, 'b', 'c')] } }));
    await page.goto(postureAt('/resource/AWS.EC2.200000000002.eu-west-1.Instance.i-0'));
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await expect(page.getByRole('dialog', { name: 'Compare two changes' }).locator('.diff tr')).toHaveText('metadataHttpTokensbc');
  });
});
