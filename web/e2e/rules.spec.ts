import type { APIRequestContext, Page } from '@playwright/test';
import { expect, postureAt, test } from './fixtures';

const editor = (page: Page) => page.getByRole('textbox', { name: 'Query' });

/** Replaces the query. The editor may not notice a selection before it has the focus, and would then keep the old text. */
const write = (page: Page, text: string) =>
  expect(async () => {
    await editor(page).fill(text);
    expect(await editor(page).locator('.cm-line').allInnerTexts()).toEqual(text.split('\n'));
  }).toPass();

/** Deletes the open rule, after leaving it: its screen requests it again when any rule changes, and would get 404. */
async function remove(page: Page, api: APIRequestContext): Promise<void> {
  const id = page.url().split('/').pop();
  await page.goto(postureAt('/rules/new'));
  expect((await api.delete(`/v1/rules/${id}`)).ok()).toBe(true);
}

const invalidQuery = "g.V().hasLabel('AWS.EC2.Instance'";
const validQuery = "g.V().hasLabel('AWS.EC2.Instance').has('metadataHttpEndpoint', 'enabled')";

test('rules are filtered by cloud and level, and the address can be shared', async ({ posture: page }) => {
  await page.goto(postureAt('/rules'));
  await page.getByLabel('Cloud', { exact: true }).selectOption('azure');
  await page.getByLabel('Level', { exact: true }).selectOption('High');
  await expect(page).toHaveURL(/provider=azure/);
  await expect(page.locator('tbody tr').first()).toBeVisible();
  await page.reload();
  await expect(page.getByLabel('Cloud', { exact: true })).toHaveValue('azure');
});

test('rules are found by words and by framework', async ({ posture: page }) => {
  await page.goto(postureAt('/rules'));
  await page.getByLabel('Search rules').fill('ssh');
  await expect(page.locator('tbody tr').first()).toContainText(/ssh/i);
  await page.goto(postureAt('/rules?framework=cis-aws-3.0'));
  await expect(page.locator('tbody tr').first()).toBeVisible();
});

test('the count of a rule opens its findings', async ({ posture: page }) => {
  await page.goto(postureAt('/rules'));
  const link = page.locator('tbody tr').first().locator('td.num a');
  await expect(link).toHaveText(/^[1-9]/);
  await link.click();
  await expect(page).toHaveURL(/findings\?rule=/);
});

test('a rule is switched off, and the switch is undone', async ({ posture: page }, info) => {
  await page.goto(postureAt('/rules?q=aws-sns'));
  const toggle = page.locator('tbody tr').nth(info.parallelIndex).getByRole('switch'); // repetitions run at the same time
  await expect(toggle).toHaveAttribute('aria-checked', 'true');
  await toggle.click();
  await expect(toggle).toHaveAttribute('aria-checked', 'false');
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(toggle).toHaveAttribute('aria-checked', 'true');
});

test('an error in a query is shown below the editor, and the corrected query runs', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/new'));
  await write(page, invalidQuery);
  await expect(page.locator('.editor-foot .c-error')).toBeVisible();
  await write(page, validQuery);
  await expect(page.locator('.editor-foot')).toContainText('No problems');
  await expect(page.locator('.editor-foot')).toContainText('AWS.EC2.Instance');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.locator('.dry-effect')).toContainText('If you enable it');
  await expect(page.locator('.dry-effect')).toContainText(/already ha(s|ve) “/); // the resources violate other rules too
  await expect(page.locator('.dry .table tbody tr').first()).toBeVisible();
});

test('a dry run is marked as outdated when the query changes', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/new'));
  await write(page, validQuery);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.locator('.dry-summary')).toBeVisible();
  await write(page, `${validQuery}.limit(1)`);
  await expect(page.getByText('The query has changed since this dry run.')).toBeVisible();
});

for (const view of ['Accounts', 'Plan', 'JSON']) {
  test(`a dry run is shown as ${view}`, async ({ posture: page }) => {
    await page.goto(postureAt('/rules/new'));
    await write(page, validQuery);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.locator('.dry-summary')).toBeVisible();
    await page.getByRole('group', { name: 'Result' }).getByRole('button', { name: view }).click();
    await expect(
      page
        .locator('.dry')
        .getByText(view === 'Accounts' ? 'aws-demo-1' : view === 'Plan' ? 'AWS.EC2.Instance' : '"violating"')
        .filter({ visible: true })
        .first(),
    ).toBeVisible();
  });
}

test('a dry run is shown as a graph, and a resource of it opens', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/new'));
  await write(page, validQuery);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.locator('.dry-summary')).toBeVisible();
  await page.getByRole('group', { name: 'Result' }).getByRole('button', { name: 'Graph', exact: true }).click();
  const card = page.locator('.dry .graph-card').first();
  await expect(card).toBeVisible();
  await card.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'The rule is not saved' }).getByRole('button', { name: 'Leave', exact: true }).click();
  await expect(page).toHaveURL(/\/resource\//);
});

test('a rule is created and enabled, raises findings, is changed and deleted', async ({ posture: page }, info) => {
  const name = `Instances of the demo ${info.workerIndex} ${Date.now()}`;
  await page.goto(postureAt('/rules/new'));
  await write(page, validQuery);
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Save and enable', exact: true }).click();
  await expect(page.getByRole('heading', { name })).toBeVisible();
  await page.getByRole('link', { name: 'Findings of this rule', exact: true }).click();
  await expect(page.locator('.finding').first()).toBeVisible({ timeout: 60_000 });
  await page.goBack();
  await page.getByLabel('Why it matters').fill('Because it was asked for.');
  await page.getByRole('button', { name: 'Save disabled', exact: true }).click();
  await expect(page.getByText(/^Saved; the rule is disabled/)).toBeVisible();
  await page.getByRole('button', { name: 'History', exact: true }).click();
  await expect(page.getByRole('dialog')).toContainText('Why it matters');
  await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page).toHaveURL(/\/rules$/);
});

test('a rule that was switched on in the list opens with its current status', async ({ posture: page, api }, info) => {
  const name = `Switched ${info.workerIndex} ${Date.now()}`;
  await page.goto(postureAt('/rules/new'));
  await write(page, validQuery);
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Save disabled', exact: true }).click();
  await expect(page.getByRole('heading', { name })).toBeVisible();
  await expect(page.locator('.bar .pill')).toHaveText('Disabled');
  await page.getByRole('link', { name: 'Rules', exact: true }).last().click();
  await page.getByLabel('Search rules').fill(name);
  const toggle = page.getByRole('switch', { name: `${name} is on`, exact: true });
  await toggle.click();
  await expect(toggle).toHaveAttribute('aria-checked', 'true');
  await page.getByRole('link', { name, exact: true }).click();
  await expect(page.getByRole('heading', { name })).toBeVisible();
  await expect(page.locator('.bar .pill')).toHaveText('Enabled');
  await remove(page, api);
});

test('text typed while a rule is being saved counts as not saved', async ({ posture: page, api }, info) => {
  const held: (() => void)[] = []; // functions, each of which sends a held save on to the server
  await page.route(/\/v1\/rules(\/[^/]+)?$/, async (route) => {
    const request = route.request();
    if (request.method() === 'PUT' || (request.method() === 'POST' && request.url().endsWith('/v1/rules')))
      await new Promise<void>((resolve) => held.push(resolve));
    await route.fallback();
  });
  const save = page.getByRole('button', { name: 'Save disabled', exact: true });
  const discard = page.getByRole('button', { name: 'Discard', exact: true });
  const todo = page.getByLabel('What to do');
  // Types a text after the save was sent, so that the save does not contain the text.
  const saveWhileTyping = async (text: string) => {
    await save.click();
    await expect.poll(() => held.length).toBe(1);
    await todo.fill(text);
    held.pop()?.();
  };

  const name = `Typed ${info.workerIndex} ${Date.now()}`;
  await page.goto(postureAt('/rules/new'));
  await write(page, validQuery);
  await page.getByLabel('Name', { exact: true }).fill(name);
  await saveWhileTyping('One'); // the screen asks before it goes to the new rule
  await page.getByRole('dialog', { name: 'The rule is not saved' }).getByRole('button', { name: 'Stay', exact: true }).click();
  await expect(todo).toHaveValue('One');
  await saveWhileTyping('Two');
  await page.getByRole('dialog', { name: 'The rule is not saved' }).getByRole('button', { name: 'Leave', exact: true }).click();
  await expect(page).not.toHaveURL(/\/new$/);
  await page.reload(); // removes the messages of the earlier saves
  await expect(todo).toHaveValue('One');

  await todo.fill('Three');
  await saveWhileTyping('Four');
  await expect(page.getByText('Saved', { exact: true })).toBeVisible();
  await expect(discard).toBeVisible();
  await discard.click();
  await expect(todo).toHaveValue('Three');
  await remove(page, api);
});

test('leaving a rule that is not saved asks first', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/new'));
  await page.getByLabel('Name', { exact: true }).fill('Not saved');
  await page.getByRole('link', { name: 'Rules', exact: true }).last().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stay', exact: true }).click();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Not saved');
  await page.getByRole('link', { name: 'Rules', exact: true }).last().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click();
  await expect(page).toHaveURL(/\/rules$/);
});

test.describe('what the server refuses', () => {
  test.use({ expectsFailedAnswers: true });

  test('a rule without a name shows an error', async ({ posture: page }) => {
    await page.goto(postureAt('/rules/new'));
    await write(page, validQuery);
    await page.getByRole('button', { name: 'Save disabled', exact: true }).click();
    await expect(page.getByRole('alert').first()).toBeVisible();
  });

  test('the reason why a query was refused is shown until the query changes', async ({ posture: page }) => {
    await page.route(/\/v1\/rules$/, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 400, json: { message: 'query is odd', errors: [{ path: 'query', message: 'is odd' }] } })
        : route.fallback(),
    );
    await page.goto(postureAt('/rules/new'));
    await write(page, validQuery);
    const foot = page.locator('.editor-foot');
    await expect(foot).toContainText('No problems');
    await page.getByLabel('Name', { exact: true }).fill('Odd');
    await page.getByRole('button', { name: 'Save disabled', exact: true }).click();
    await expect(foot).toContainText('Is odd');
    await write(page, `${validQuery}.limit(1)`);
    await expect(foot).toContainText('No problems');
    await expect(page.locator('.note.error')).toHaveCount(0);
  });

  test('a conflict shows theirs and mine, and either can be kept', async ({ posture: page }, info) => {
    const name = `Contested ${info.workerIndex} ${Date.now()}`;
    await page.goto(postureAt('/rules/new'));
    await write(page, validQuery);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Save disabled', exact: true }).click();
    await expect(page.getByRole('heading', { name })).toBeVisible();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByLabel('What to do').fill('What they say');
    await other.getByRole('button', { name: 'Save disabled', exact: true }).click();
    await expect(other.getByText('Saved', { exact: true })).toBeVisible();
    await page.getByLabel('What to do').fill('What I say');
    await page.getByRole('button', { name: 'Save disabled', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Someone else saved a change' });
    await expect(dialog).toContainText('What they say');
    await expect(dialog).toContainText('What I say');
    await dialog.getByRole('button', { name: 'Save mine', exact: true }).click();
    await expect(page.getByText('Saved', { exact: true })).toBeVisible();
    await other.reload();
    await expect(other.getByLabel('What to do')).toHaveValue('What I say');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(page).toHaveURL(/\/rules$/);
  });

  test('after a save of which only a part was stored, Discard goes back to what is stored', async ({ posture: page }, info) => {
    const name = `Half stored ${info.workerIndex} ${Date.now()}`;
    await page.goto(postureAt('/rules/new'));
    await write(page, validQuery);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Save disabled', exact: true }).click();
    await expect(page.getByRole('heading', { name })).toBeVisible();
    // Saving stores the text with PUT, and then enables the rule with PATCH.
    await page.route('**/v1/rules/*', (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 400, json: { message: 'refused by the test' } }) : route.fallback(),
    );
    await page.getByLabel('What to do').fill('What is stored');
    await page.getByRole('button', { name: 'Save and enable', exact: true }).click();
    await expect(page.getByRole('alert').first()).toContainText('Refused by the test');
    await page.getByLabel('What to do').fill('What is not stored');
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await expect(page.getByLabel('What to do')).toHaveValue('What is stored');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(page).toHaveURL(/\/rules$/);
  });
});

test('a native rule is read-only and can be copied', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/aws-ec2-metadata-theft'));
  await page.getByRole('link', { name: 'Copy as custom', exact: true }).click();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue(/\(copy\)$/);
});

test('a parameter of a native rule is checked, set and reset', async ({ posture: page }) => {
  await page.goto(postureAt('/rules/aws-iam-access-key-age-90'));
  const days = page.getByLabel('days', { exact: true });
  await expect(days).toHaveValue('90');
  await expect(page.locator('.editor-foot')).toContainText('No problems');
  await days.fill('many');
  await expect(page.getByText('Enter a whole number')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  for (const value of ['60', '90']) {
    await days.fill(value);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByText('Saved', { exact: true }).first()).toBeVisible();
    await page.reload();
    await expect(days).toHaveValue(value);
  }
});

test('a viewer sees rules but cannot change them', async ({ viewer: page }) => {
  await page.goto(postureAt('/rules'));
  await expect(page.getByRole('button', { name: 'New rule', exact: true })).toBeDisabled();
  await expect(page.locator('tbody tr').first().getByRole('switch')).toBeDisabled();
});

test('a query runs in Explore, and says what it cost', async ({ posture: page }) => {
  await page.goto(postureAt('/explore'));
  await write(page, "g.V().hasLabel('AWS.EC2.Instance').limit(3)");
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.locator('.table tbody tr').first()).toBeVisible();
  await expect(page.getByText(/of 1,000,000 steps/).first()).toBeVisible();
});

test.describe('an invalid query', () => {
  test.use({ expectsFailedAnswers: true });

  test('in Gremlin is reported with its line', async ({ posture: page }) => {
    await page.goto(postureAt('/explore'));
    await write(page, invalidQuery);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.locator('.note.error')).toContainText(/Line 1/);
    await write(page, "g.V().hasLabel('AWS.EC2.Instance').limit(3)");
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.locator('.table tbody tr').first()).toBeVisible();
  });

  test('in the search language is reported', async ({ posture: page }) => {
    await page.goto(postureAt('/explore?lang=search'));
    await write(page, 'property.encrypted = ');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(page.locator('.note.error')).toBeVisible();
  });
});

for (const view of ['Graph', 'JSON', 'Plan']) {
  test(`the result of a query is shown as ${view}`, async ({ posture: page }) => {
    await page.goto(postureAt(`/explore?q=${encodeURIComponent("g.V().hasLabel('AWS.EC2.Instance').limit(2).out().path()")}`));
    await expect(page.locator('.table tbody tr').first()).toBeVisible();
    await page.getByRole('group', { name: 'View' }).getByRole('button', { name: view, exact: true }).click();
    await expect(page.locator(view === 'Graph' ? '.graph-card' : 'pre.json').first()).toBeVisible();
  });
}

test('the search language finds resources of every account, with counts by type', async ({ posture: page }) => {
  await page.goto(postureAt('/explore?lang=search'));
  await write(page, 'service = KMS');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByText(/\d+ resources/).first()).toBeVisible();
  await expect(page.getByRole('link', { name: /^KMS\.Key \d/ })).toBeVisible();
});

test('a search of all accounts, chosen while the language was Gremlin, finds resources', async ({ posture: page }) => {
  await page.goto(postureAt('/explore?lang=search&account=all&q=service%20%3D%20KMS'));
  await expect(page.getByRole('link', { name: /^KMS\.Key \d/ })).toBeVisible();
});

test('earlier queries are offered again', async ({ posture: page }) => {
  await page.goto(postureAt('/explore'));
  await write(page, 'g.V().count()');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('complementary', { name: 'Earlier queries' })).toContainText('g.V().count()');
});

test('a query of Explore is saved as a rule', async ({ posture: page }) => {
  await page.goto(postureAt('/explore'));
  await write(page, validQuery);
  await page.getByRole('button', { name: 'Save as rule', exact: true }).click();
  await expect(page).toHaveURL(/rules\/new/);
  await expect(editor(page)).toContainText('metadataHttpEndpoint');
});

test('a Gremlin query can run in all accounts', async ({ posture: page }) => {
  await page.goto(postureAt('/explore?account=all'));
  await write(page, 'g.V().limit(1)');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.locator('.table tbody tr').nth(3)).toBeVisible(); // the query finds one resource in each account
});
