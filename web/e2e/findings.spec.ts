import { readFileSync } from 'node:fs';
import { expect, postureAt, test } from './fixtures';

test('a figure of the overview opens the list it counts', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  const figure = page.locator('.ledger a', { hasText: 'High' });
  await expect(figure.locator('.figure')).toHaveText(/^[1-9]/);
  await figure.click();
  await expect(page.locator('.list-head b')).toContainText('finding');
  await expect(page).toHaveURL(/level=High/);
});

for (const [key, address] of [
  ['2', /risk=90/],
  ['3', /level=High/],
  ['4', /level=Medium/],
  ['5', /level=Low/],
  ['6', /rules\?unknown=yes/],
] as const) {
  test(`the key ${key} opens a figure of the overview`, async ({ posture: page }) => {
    await page.goto(postureAt('/overview'));
    await expect(page.locator('.ledger .figure').nth(Number(key) - 1)).toHaveText(/^[1-9]/);
    await page.keyboard.press(key);
    await expect(page).toHaveURL(address);
  });
}

test('the view that the address matches is marked, and no other', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?risk=90'));
  await expect(page.getByRole('navigation', { name: 'Views' }).locator('[aria-current]')).toHaveText(/^Critical risk/);
});

test('the trend shows thirty days, and another range is in the address', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  await expect(page.locator('.trend .bar-new')).toHaveCount(30);
  await page.getByRole('button', { name: '13 weeks', exact: true }).click();
  await expect(page).toHaveURL(/range=13w/);
  await expect(page.locator('.trend .bar-new')).toHaveCount(13);
});

test('the overview of one account counts that account', async ({ posture: page }) => {
  await page.goto(postureAt('/overview'));
  const figure = page.locator('.ledger .figure').first();
  await expect(figure).toHaveText(/^[1-9]/);
  const all = Number((await figure.innerText()).replace(',', ''));
  await page.getByLabel('Account', { exact: true }).selectOption({ label: 'azure-demo-1' });
  await expect(page).toHaveURL(/account=/);
  await expect.poll(async () => Number((await figure.innerText()).replace(',', ''))).toBeLessThan(all / 2);
  await expect(figure).toHaveText(/^[1-9]/);
});

test('facets narrow the list, and the address can be shared', async ({ posture: page, context }) => {
  await page.goto(postureAt('/findings'));
  await page.getByRole('button', { name: /^All \d+ services/ }).click();
  await page.locator('.facet-value', { hasText: 'KMS' }).locator('input').check();
  await expect(page).toHaveURL(/service=KMS/);
  await expect(page.locator('.chip', { hasText: 'Service' })).toBeVisible();
  const counted = await page.locator('.facet-value', { hasText: 'KMS' }).locator('.n').innerText();
  await expect(page.locator('.list-head b')).toHaveText(`${counted} findings`);
  const other = await context.newPage();
  await other.goto(page.url());
  await expect(other.locator('.list-head b')).toHaveText(`${counted} findings`);
});

test('a facet is not narrowed by its own filter', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=High'));
  await expect(page.locator('.facet-value', { hasText: 'Low' }).locator('.n')).toHaveText(/^[1-9]/);
});

test('two facets together narrow each other', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=High&service=EC2'));
  await expect(page.locator('.finding').first()).toBeVisible();
  for (const name of await page.locator('.finding .f-svc').allInnerTexts()) expect(name).toBe('EC2');
});

test('the text search finds by rule and resource', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await page.getByLabel('Search findings').fill('snapshot');
  await expect(page).toHaveURL(/q=snapshot/);
  await expect(page.locator('.finding').first()).toContainText(/snapshot/i);
});

test('a search that finds nothing says what to remove', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=High&q=nothing-has-this-name'));
  await expect(page.getByRole('heading', { name: 'No finding matches' })).toBeVisible();
  await page.getByRole('button', { name: 'Remove Text', exact: true }).last().click();
  await expect(page.locator('.finding').first()).toBeVisible();
});

test('a filter by rule is added by name', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Rule').fill('Security group allows SSH from the internet');
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page).toHaveURL(/rule=aws-ec2-sg-ssh-open/);
  await expect(page.locator('.finding').first()).toContainText('SSH');
});

test('a filter by tag is added', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('dialog').getByLabel('By').selectOption('tag');
  await page.getByRole('dialog').getByLabel('Tag').fill('Environment');
  await page.getByRole('dialog').getByLabel('Value').fill('production');
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
  await expect(page).toHaveURL(/tag\.Environment=production/);
  await expect(page.locator('.finding').first()).toBeVisible();
});

test('findings are filtered by a control', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?control=cis-aws-3.0_5.2'));
  await expect(page.locator('.chip', { hasText: 'Control' })).toContainText('5.2');
  await expect(page.locator('.finding').first()).toBeVisible();
});

test('shift F clears the filters', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=High&service=EC2'));
  await expect(page.locator('.chip').first()).toBeVisible();
  await page.keyboard.press('Shift+F');
  await expect(page.locator('.chip')).toHaveCount(0);
});

test('the order is in the address', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await page.getByLabel('Sort').selectOption('-new');
  await expect(page).toHaveURL(/sort=-new/);
  await expect(page.locator('.finding').first()).toBeVisible();
});

for (const group of ['rule', 'resource', 'account', 'service']) {
  test(`groups by ${group} open in place`, async ({ posture: page }) => {
    await page.goto(postureAt(`/findings?group=${group}`));
    await page.locator('.group-head').first().click();
    await expect(page.locator('.grouped .finding').first()).toBeVisible();
  });
}

test('findings are selected inside a group', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?group=rule'));
  await page.locator('.group-head').first().click();
  await page.locator('.grouped .finding').first().getByRole('checkbox').check();
  await expect(page.locator('.list-head')).toContainText('1 finding selected');
  await expect(page.locator('.list-head').getByRole('button', { name: 'Suppress', exact: true })).toBeEnabled();
});

test('the keys ] and [ move the focus between groups', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?group=rule'));
  await expect(page.locator('.group-head').nth(1)).toBeVisible();
  await page.keyboard.press(']');
  await page.keyboard.press(']');
  await expect(page.locator('.group-head').nth(1)).toBeFocused();
  await page.keyboard.press('[');
  await expect(page.locator('.group-head').nth(0)).toBeFocused();
});

test('the drawer opens beside the list with risk, picture and advice, and Esc closes it', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  const drawer = page.locator('.drawer');
  for (const name of ['Risk', 'Graph', 'What to do', 'Evidence', 'History'])
    await expect(drawer.getByRole('heading', { name })).toBeVisible();
  await expect(drawer.locator('.path').first()).toBeVisible();
  await expect(drawer.getByText('metadataHttpTokens')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(drawer).toHaveCount(0);
});

test('Esc closes a dialog over the drawer, and the drawer stays', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  await page.locator('.drawer').getByRole('button', { name: 'Suppress', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Suppress 1 finding', exact: true });
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await expect(page.locator('.drawer')).toBeVisible();
});

test('a finding that is not in the list opens alone', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=aws-ec2-metadata-theft'));
  await page.locator('.finding-link').first().click();
  const id = new URL(page.url()).searchParams.get('f') ?? '';
  await page.goto(postureAt(`/findings?rule=aws-kms-key-public&f=${id}`));
  await expect(page.getByText('This finding is not in the list beside it.')).toBeVisible();
});

test('the raw record of a finding is shown on request', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await page.locator('.finding-link').first().click();
  await page.getByRole('button', { name: 'More actions', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Show JSON', exact: true }).click();
  await expect(page.locator('.drawer pre.json')).toContainText('"riskScore"');
});

test('keys move through the list, open a finding, show the next one and close it', async ({ posture: page }) => {
  await page.goto(postureAt('/findings'));
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect(page.locator('.drawer')).toBeVisible();
  const first = new URL(page.url()).searchParams.get('f');
  await page.keyboard.press('j');
  await expect.poll(() => new URL(page.url()).searchParams.get('f')).not.toBe(first);
  await page.keyboard.press('Escape');
  await expect(page.locator('.drawer')).toHaveCount(0);
});

test('a finding is suppressed with a reason, and the suppression is undone', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=Low&provider=azure'));
  await page.locator('.finding-link').first().click();
  await page.locator('.drawer').getByRole('button', { name: 'Suppress', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Suppress', exact: true })).toBeDisabled();
  await dialog.getByLabel('Reason').fill('Accepted until the load balancer moves');
  await dialog.getByRole('button', { name: 'Suppress', exact: true }).click();
  await expect(page.locator('.drawer').getByText('Accepted until the load balancer moves')).toBeVisible();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(page.locator('.drawer').getByRole('button', { name: 'Suppress', exact: true })).toBeVisible();
});

test('the selected findings are exported, and no others', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?level=High'));
  await expect(page.locator('.list-head')).toContainText(/findings of [\d,]+ open/);
  const boxes = page.locator('.finding').getByRole('checkbox');
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  const saved = page.waitForEvent('download');
  await page.locator('.list-head').getByRole('button', { name: 'Export', exact: true }).click();
  const lines = readFileSync(await (await saved).path(), 'utf8')
    .trim()
    .split(/\r?\n/);
  expect(lines).toHaveLength(3); // the header and two findings
});

test('many findings are suppressed at once, found among the suppressed, and released', async ({ posture: page }) => {
  await page.goto(postureAt('/findings?rule=gcp-vm-serial-port'));
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.getByLabel('Select all findings of this list').click();
  await expect(page.locator('.list-head b')).toContainText('selected');
  await page.locator('.list-head').getByRole('button', { name: 'Suppress', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
  await expect(page.locator('.list-head b')).toContainText('selected');
  await page.locator('.list-head').getByRole('button', { name: 'Suppress', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill('All of these are known');
  await page.getByRole('dialog').getByRole('button', { name: 'Suppress', exact: true }).click();
  await expect(page.getByText(/findings? suppressed/)).toBeVisible();
  await page.goto(postureAt('/findings?status=suppressed&rule=gcp-vm-serial-port'));
  await expect(page.locator('.finding').first()).toBeVisible();
  await page.getByLabel('Select all findings of this list').click();
  await page.getByRole('button', { name: 'Release', exact: true }).click();
  await expect(page.getByText(/findings? released/)).toBeVisible();
  await expect(page.getByText('Nothing is here').or(page.getByText('No finding matches'))).toBeVisible();
});

test('a view is kept, opened again and removed', async ({ posture: page }, info) => {
  const name = `mine ${info.workerIndex} ${Date.now()}`;
  await page.goto(postureAt(`/findings?level=High&service=S3&sort=-new`));
  await page.getByRole('button', { name: 'Keep view', exact: true }).click();
  await expect(page.getByRole('dialog')).toHaveCSS('display', 'block'); // it is a child of the tabs, but not laid out as a tab
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Keep', exact: true }).click();
  await expect(page.getByRole('link', { name })).toBeVisible(); // the view is saved
  await page.goto(postureAt('/findings'));
  await page.getByRole('link', { name }).click();
  await expect(page).toHaveURL(/service=S3/);
  await page.getByRole('button', { name: `Remove the view ${name}`, exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page.getByRole('link', { name })).toHaveCount(0);
});

for (const [choice, file] of [
  ['CSV', 'findings.csv'],
  ['JSON', 'findings.jsonl'],
  ['SARIF', 'findings.sarif'],
  ['OCSF', 'findings.ocsf.json'],
  ['HTML', 'findings.html'],
] as const) {
  test(`findings are exported as ${choice}`, async ({ posture: page }) => {
    await page.goto(postureAt('/findings?level=Low'));
    await expect(page.locator('.finding').first()).toBeVisible();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('menuitem', { name: choice }).click();
    expect((await saved).suggestedFilename()).toBe(file);
  });
}

test('a viewer sees the button to suppress a finding disabled, with the required role', async ({ viewer: page }) => {
  await page.goto(postureAt('/findings'));
  await page.locator('.finding-link').first().click();
  const button = page.locator('.drawer').getByRole('button', { name: 'Suppress', exact: true });
  await expect(button).toBeDisabled();
  await expect(button).toHaveAttribute('title', /analyst/);
});

test('an organisation without an account is led to linking one', async ({ otherOrg: page }) => {
  await page.goto(postureAt('/overview'));
  await expect(page.getByRole('heading', { name: 'No account is linked' })).toBeVisible();
  await page.getByRole('link', { name: 'Link Azure', exact: true }).click();
  await expect(page).toHaveURL(/accounts\/link\/azure/);
});

test('activity lists findings raised and resolved, and opens one', async ({ posture: page }) => {
  await page.goto(postureAt('/activity?show=findings'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.locator('tbody tr th a').first().click();
  await expect(page.locator('.drawer')).toBeVisible();
});
