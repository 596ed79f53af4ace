import { expect, openResource, postureAt, test } from './fixtures';

test('a resource shows its graph, findings, other verdicts and properties', async ({ posture: page }) => {
  await openResource(page);
  await expect(page.locator('.graph-card.me')).toBeVisible();
  await expect(page.getByText('Other verdicts')).toBeVisible();
  await expect(page.locator('.properties tr.red').first()).toBeVisible();
});

for (const view of ['Neighbours', 'Reach']) {
  test(`the graph of a resource shows ${view}`, async ({ posture: page }) => {
    await openResource(page);
    await page.getByRole('button', { name: view, exact: true }).click();
    await expect(page.locator('.graph-card').nth(3)).toBeVisible();
    await expect(page.locator('.graph-label').first()).not.toBeEmpty();
  });
}

test('the graph has a list for those who cannot see it', async ({ posture: page }) => {
  await openResource(page);
  await page.keyboard.press('l');
  await expect(page.locator('.graph-list tbody tr').first()).toBeVisible();
});

test('the arrow keys move between the nodes of the graph, and Enter makes a neighbour the centre', async ({ posture: page }) => {
  await openResource(page);
  await page.getByRole('button', { name: 'Neighbours', exact: true }).click();
  await expect(page.locator('.graph-card').nth(3)).toBeVisible();
  const before = page.url();
  await page.locator('.graph-card.me').focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.graph-card.me')).not.toBeFocused();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).not.toBe(before);
});

test('more neighbours of a node are shown by its button and by a key', async ({ posture: page }) => {
  await openResource(page);
  const cards = page.locator('.graph-card');
  const more = page.getByRole('button', { name: /^Show \d+ more neighbours of / });
  await expect(more.first()).toBeVisible();
  const before = await cards.count();
  const label = (await more.first().getAttribute('aria-label')) ?? '';
  // While the graph is still growing, another button may become the first.
  await page.getByRole('button', { name: label, exact: true }).click();
  await expect.poll(() => cards.count()).toBeGreaterThan(before);
  await expect(page.getByRole('button', { name: label, exact: true })).toHaveCount(0);
  await expect(more.first()).toBeVisible();
  const again = await cards.count();
  await page.locator('.graph-place').filter({ has: more }).first().locator('.graph-card').focus();
  await page.keyboard.press('+');
  await expect.poll(() => cards.count()).toBeGreaterThan(again);
});

test('properties are searched', async ({ posture: page }) => {
  await openResource(page);
  await page.getByLabel('Search properties').fill('metadata');
  await expect(page.locator('.properties tr').filter({ hasNotText: /metadata/i })).toHaveCount(0);
  await expect(page.locator('.properties tr').filter({ hasText: /metadata/i })).not.toHaveCount(0);
});

for (const [choice, file] of [
  ['Picture (PNG)', 'graph.png'],
  ['JSON', 'graph.json'],
] as const)
  test(`the graph of a resource is saved as ${file}`, async ({ posture: page }) => {
    await openResource(page);
    await expect(page.locator('.graph-card.me')).toBeVisible();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the graph', exact: true }).click();
    await page.getByRole('menuitem', { name: choice, exact: true }).click();
    expect((await saved).suggestedFilename()).toBe(file);
  });

test('a resource is read again', async ({ posture: page }) => {
  await openResource(page);
  await page.getByRole('button', { name: 'Read again', exact: true }).click();
  await expect(page.getByText(/Reading it again|already/).first()).toBeVisible();
});

test('a resource is shown as it was read again, once the run has ended', async ({ posture: page }) => {
  // A stream without events: only the end of the run makes the page request the resource once more.
  await page.route('**/console/pulse/stream', (route) => route.fulfill({ contentType: 'text/event-stream', body: ': connected\n\n' }));
  await openResource(page);
  const id = new URL(page.url()).pathname.split('/').pop() ?? '';
  let polls = 0;
  const hasEnded = () => polls > 1;
  await page.route('**/v1/cloud-accounts/*/collections', (route) => route.fulfill({ status: 202, json: { collectionId: 'again' } }));
  await page.route('**/v1/cloud-accounts/*/collections/again', (route) => {
    polls++;
    return route.fulfill({ json: { collectionId: 'again', status: hasEnded() ? 'Completed' : 'Started' } });
  });
  await page.route(
    (url) => url.pathname === `/v1/entities/${id}`,
    async (route) => {
      const entity = (await (await route.fetch()).json()) as object;
      await route.fulfill({ json: hasEnded() ? { ...entity, entityName: 'as read again' } : entity });
    },
  );
  await page.getByRole('button', { name: 'Read again', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'as read again', exact: true }).first()).toBeVisible();
});

test.describe('a resource that is gone', () => {
  test.use({ expectsFailedAnswers: true });
  test('says so', async ({ posture: page }) => {
    await page.goto(postureAt('/resource/AWS.EC2.200000000002.eu-west-1.Instance.i-0'));
    await expect(page.getByText(/is gone, or was never read/)).toBeVisible();
  });
});

test('the inventory is a tree by type, and a type has columns from the schema', async ({ posture: page }) => {
  await page.goto(postureAt('/inventory?type=AWS.EC2.Volume'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'encrypted' })).toBeVisible();
  const service = page.locator('.tree details', { has: page.locator('summary', { hasText: 'KMS' }) }).first();
  const key = service.locator('a[href*="AWS.KMS.Key"]').first();
  await expect(async () => {
    if (!(await key.isVisible())) await service.locator('summary').click(); // a refresh of the counts may close it again
    await key.click({ timeout: 2000 });
  }).toPass();
  await expect(page).toHaveURL(/type=AWS.KMS/);
});

test('columns of the inventory are chosen', async ({ posture: page }) => {
  await page.goto(postureAt('/inventory?type=AWS.EC2.Volume'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.keyboard.press('v');
  await page
    .getByRole('dialog')
    .getByLabel(/^encrypted/)
    .uncheck();
  await page.getByRole('dialog').getByRole('button', { name: 'Done', exact: true }).click();
  await expect(page.getByRole('columnheader', { name: 'encrypted' })).toHaveCount(0);
  await page.keyboard.press('v');
  const chosen = page.getByRole('dialog').getByRole('checkbox', { checked: true });
  for (let left = await chosen.count(); left > 0; left--) await chosen.first().uncheck();
  await expect(page).toHaveURL(/columns=none/);
  await expect(page.locator('thead code')).toHaveCount(0);
});

test('J and K walk a list, Enter opens a row, and Shift F clears the filters', async ({ posture: page }) => {
  await page.goto(postureAt('/inventory?type=AWS.S3.Bucket'));
  const rows = page.locator('tbody th a');
  await expect(rows.nth(1)).toBeVisible();
  await page.keyboard.press('j');
  await expect(rows.nth(0)).toBeFocused();
  await page.keyboard.press('j');
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.press('k');
  await expect(rows.nth(0)).toBeFocused();
  await page.keyboard.press('Shift+F');
  await expect(page).not.toHaveURL(/type=/);
  // The rows of the removed filter stay until the rows of all types arrive.
  await expect(page.locator('tbody tr').filter({ hasNotText: 'S3.Bucket' }).first()).toBeVisible();
  await page.keyboard.press('j');
  await expect(rows.nth(0)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Properties' })).toBeVisible();
});

test('the type in a question of Explore can be chosen', async ({ posture: page }) => {
  await page.goto(postureAt('/explore'));
  await page.getByLabel('Question').selectOption({ label: 'What leads to resources of the type …?' });
  await page.getByLabel('Type in the question').selectOption('AWS.KMS.Key');
  await expect(page.getByRole('textbox', { name: 'Query' })).toContainText("hasLabel('AWS.KMS.Key')");
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.locator('.table tbody tr').first()).toBeVisible();
});

test('the inventory is searched by a condition', async ({ posture: page }) => {
  await page.goto(postureAt('/inventory?type=AWS.EC2.Volume'));
  await page.getByLabel('Search resources').fill('property.encrypted = false');
  await expect(page).toHaveURL(/q=/);
  await expect(page.locator('tbody tr').first()).toContainText('false');
  await page.getByRole('link', { name: 'Show as query', exact: true }).click();
  await expect(page).toHaveURL(/lang=search/);
});

test('the inventory is searched by parts of names, and sorted', async ({ posture: page }) => {
  await page.goto(postureAt('/inventory?type=AWS.S3.Bucket'));
  const names = page.locator('tbody th a');
  await expect(names.nth(1)).toBeVisible();
  await page.getByRole('button', { name: 'Name', exact: true }).click();
  await expect(page).toHaveURL(/sort=name/);
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'ascending');
  const sorted = async () => (await names.allTextContents()).map((n) => n.toLowerCase());
  await expect(async () => {
    const all = await sorted();
    expect(all).toEqual(all.toSorted());
  }).toPass();
  const first = (await sorted())[0] ?? '';
  await page.getByRole('button', { name: 'Name', exact: true }).click();
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'descending');
  await expect(async () => {
    const all = await sorted();
    expect(all).toEqual(all.toSorted().reverse());
  }).toPass();
  const part = first.slice(0, 4);
  await page.getByLabel('Search resources').fill(part.toUpperCase());
  await expect(page).toHaveURL(/q=/);
  await expect(async () => expect((await sorted()).every((n) => n.includes(part))).toBe(true)).toPass();
  await expect(page.locator('tbody')).toContainText(first);
});

test('a resource of the inventory opens', async ({ posture: page }) => {
  await page.goto(postureAt('/inventory?type=AWS.S3.Bucket'));
  await page.locator('tbody th a').first().click();
  await expect(page.getByRole('heading', { name: 'Properties' })).toBeVisible();
});

test('the inventory is exported', async ({ posture: page }) => {
  await page.goto(postureAt('/inventory?type=AWS.S3.Bucket'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  expect((await saved).suggestedFilename()).toBe('resources.csv');
});

test('a search of the inventory without a result offers to clear the filters', async ({ posture: page }) => {
  await page.goto(postureAt('/inventory?q=no-such-name'));
  await expect(page.getByText('No resource matches')).toBeVisible();
  await page.getByRole('button', { name: 'Clear all', exact: true }).click();
  await expect(page.locator('tbody tr').first()).toBeVisible();
});

test('compliance shows the violated controls of thirty days, also of one account', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-5.0'));
  const trend = page.getByRole('region', { name: 'Violated controls over time' });
  await expect(trend.getByText(/Violated of \d+/)).toBeVisible();
  const shown = () => trend.locator('b').first().innerText();
  const all = Number(await shown());
  expect(all).toBeGreaterThan(0);
  await page.getByRole('combobox', { name: 'Account' }).selectOption({ label: 'aws-demo-2' });
  await expect.poll(async () => Number(await shown())).toBeLessThan(all);
});

test('a person assesses a control that no rule checks, and withdraws the assessment', async ({ posture: page }, info) => {
  await page.goto(postureAt('/compliance/cis-aws-7.0'));
  // Repetitions of this scenario run at the same time: each worker has its own control.
  const assessable = page.locator('.control-row').filter({ has: page.getByRole('button', { name: /^Assess control/ }) });
  const row = assessable.nth(info.parallelIndex);
  const id = await row.locator('.control-id').innerText();
  const control = page.locator(`[id="control-${id}"]`);
  const assess = control.getByRole('button', { name: `Assess control ${id}`, exact: true });
  await assess.click();
  await page.getByRole('button', { name: 'Violated', exact: true }).click();
  await page.getByLabel('Reason').fill('No contact is registered, ticket OPS-17');
  await page.getByRole('button', { name: 'Record', exact: true }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0); // until then, the dialog contains the texts that are expected in the row
  await expect(control).toContainText('ticket OPS-17');
  await expect(control).toContainText('Violated');
  await assess.click();
  await page.getByRole('button', { name: 'Withdraw', exact: true }).click();
  await expect(control).toContainText('Manual assessment');
});

test('compliance opens a control and leads to its findings', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-3.0?control=5.2'));
  await expect(page.locator('.rule-row').first()).toBeVisible();
  await page.locator('.rule-row .link').first().click();
  await expect(page).toHaveURL(/findings\?rule=/);
});

test('the number of violating resources of a control leads to their findings', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-3.0?verdict=violation'));
  await page.locator('.control-row .c-violation a').first().click();
  await expect(page).toHaveURL(/findings\?control=cis-aws-3.0_/);
  await expect(page.locator('.finding').first()).toBeVisible();
});

test('controls are filtered by verdict and by account', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-3.0'));
  await page
    .getByRole('group', { name: 'Verdict' })
    .getByRole('button', { name: /Violated/ })
    .click();
  await expect(page).toHaveURL(/verdict=violation/);
  await page.getByLabel('Account').selectOption({ label: 'aws-demo-1' });
  await expect(page).toHaveURL(/account=/);
  await expect(page.locator('.control-row').first()).toContainText('Violated');
});

test('arrows open and close a control', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-3.0'));
  const button = page.locator('.control-row .control-button:enabled').first();
  await button.focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.locator('.rule-row').first()).toBeVisible();
  await page.keyboard.press('ArrowLeft');
  await expect(page.locator('.rule-row')).toHaveCount(0);
});

test('the number of a section opens the findings of its controls', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-3.0'));
  await page.locator('.section-row').getByRole('link').first().click();
  await expect(page).toHaveURL(/findings\?control=cis-aws-3\.0_/);
  await expect(page.locator('.chip')).toContainText('Control');
  await expect(page.locator('.list-head b')).toHaveText(/^[1-9]/);
});

test('posture is exported', async ({ posture: page }) => {
  await page.goto(postureAt('/compliance/cis-aws-3.0'));
  await expect(page.locator('.control-row').first()).toBeVisible();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  expect((await saved).suggestedFilename()).toBe('cis-aws-3.0.csv');
});

test('a custom framework is created and deleted', async ({ posture: page }, info) => {
  const id = `own-${info.workerIndex}-${Date.now()}`;
  await page.goto(postureAt('/compliance'));
  await page.getByRole('button', { name: 'New', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Id').fill(id);
  await dialog.getByLabel('Name').fill('House rules');
  await dialog.getByLabel('Controls').fill('1.1 Keys are rotated | Keys\n1.2 Buckets are private | Storage');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page).toHaveURL(new RegExp(id));
  await expect(page.locator('.control-row')).toHaveCount(2);
  await page.getByRole('button', { name: 'New', exact: true }).click();
  await dialog.getByLabel('Id').fill(id);
  await dialog.getByLabel('Name').fill('Other rules');
  await dialog.getByLabel('Controls').fill('1.1 Keys are rotated | Keys');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(dialog.getByRole('alert')).toHaveText('A framework has this id already');
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(page.locator('.control-row')).toHaveCount(2);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(id));
});

test('an account that is read in part shows unknown verdicts, and the permission that is missing', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/aws-kms-rotation/unknown'));
  await expect(page.getByText(/kms:GetKeyRotationStatus/).first()).toBeVisible();
  await page.goto(postureAt('/accounts'));
  await page.getByRole('link', { name: /aws-demo-2/ }).click();
  // Other scenarios read single types of the account again, so the newest run may have no errors.
  await page
    .getByRole('row', { name: /With errors/ })
    .last()
    .getByRole('button')
    .first()
    .click();
  await expect(page.getByText(/kms:GetKeyRotationStatus/).first()).toBeVisible();
});

test('the coverage of a framework does not count unknown verdicts as passes', async ({ posture: page }) => {
  await page.route('**/v1/compliance-frameworks/cis-aws-3.0/posture', async (route) => {
    const answer = (await (await route.fetch()).json()) as { results: { ruleIds: string[] }[] };
    const verdicts = [{ passing: 5 }, { passing: 5, unknown: 1 }, { passing: 5, violating: 1 }];
    const results = answer.results
      .filter((c) => c.ruleIds.length > 0)
      .slice(0, verdicts.length)
      .map((c, i) => ({ ...c, violating: 0, unknown: 0, notListed: 0, unread: [], ...verdicts[i] }));
    await route.fulfill({ json: { ...answer, results } });
  });
  await page.goto(postureAt('/compliance/cis-aws-3.0'));
  await expect(page.getByText(/Unknown is not pass/)).toBeVisible();
  const figure = (label: string) => page.locator('.framework-figures button', { hasText: label }).locator('.figure');
  await expect(figure('Controls that pass')).toHaveText('1 of 3 covered');
  await expect(figure('Unknown')).toHaveText('1');
});
