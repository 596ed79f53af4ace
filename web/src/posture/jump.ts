import { posture } from '../api/posture';
import type { Found, Target } from '../frame/JumpBox';
import { failureText } from '../parts/failure';
import { shortType } from '../parts/text';
import { readAccounts } from './data';
import { frameworkLabel } from './frameworks';

/** A control of a framework, for searching. */
interface Control {
  framework: string;
  label: string;
  number: string;
}

/** How many targets of a kind are offered. */
const most = 10;

/** How many words the server accepts in a search for names of resources. */
const mostWords = 12;

// Controls hardly ever change: they are read when somebody searches, and not again for five minutes.
const reread = 300_000;
let controls: { read: Promise<Control[]>; at: number } | undefined;
async function readControls(): Promise<Control[]> {
  const frameworks = (await posture.get('/v1/compliance-frameworks')).results;
  const lists = await Promise.all(
    frameworks.map(async (f) => {
      const { results } = await posture.get('/v1/compliance-frameworks/{framework_id}/controls', { path: { framework_id: f.id } });
      return results.map((c) => ({ framework: f.id, label: frameworkLabel(f.id, frameworks), number: c.controlId, title: c.title }));
    }),
  );
  return lists.flat().map(({ title, label, ...c }) => ({ ...c, label: `${label} ${c.number} ${title}` }));
}
function findControls(text: string): Promise<Control[]> {
  if (!controls || Date.now() - controls.at > reread) {
    const read = readControls().catch((error: unknown) => {
      controls = undefined; // the next search tries again
      throw error;
    });
    controls = { read, at: Date.now() };
  }
  const words = text.toLowerCase().split(/\s+/);
  return controls.read.then((all) => all.filter((c) => words.every((w) => c.label.toLowerCase().includes(w))));
}

/** Accounts, rules, controls and resources whose name matches. If the controls cannot be read, the others are found anyway. */
export async function jumpTargets(text: string): Promise<Found> {
  const words = text.match(/[\p{L}\p{Nd}]+/gu)?.length ?? 0;
  const unsearched: string[] = [];
  if (words === 0) unsearched.push('Resources were not searched: the text has no letters or digits.');
  if (words > mostWords) unsearched.push(`Resources were not searched: the text has more than ${mostWords} words.`);
  const [accounts, rules, entities, found] = await Promise.all([
    readAccounts(),
    posture.post('/v1/rules/query', { body: { filters: { queryString: text }, paginationInfo: { pageSize: most } } }),
    words > 0 && words <= mostWords // the server refuses other names
      ? posture.post('/v1/entities/query', { body: { filters: { nameSearch: text }, paginationInfo: { pageSize: most } } })
      : { results: [], continuationToken: undefined },
    findControls(text).catch((error: unknown): Control[] => {
      unsearched.push(`Controls were not searched. ${failureText(error)}`);
      return [];
    }),
  ]);
  const lower = text.toLowerCase();
  const named = accounts.filter((a) => `${a.cloudAccountName} ${a.cloudAccountId}`.toLowerCase().includes(lower));
  const targets = [
    ...named.slice(0, most).map((a): Target => ({
      group: 'Account',
      icon: 'accounts',
      label: a.cloudAccountName,
      detail: `Account ${a.cloudAccountId}`,
      to: `/accounts/${a.cloudAccountId}`,
    })),
    ...entities.results.map((e): Target => ({
      group: 'Resource',
      icon: 'box',
      label: e.entityName,
      detail: `${shortType(e.entityType)} in ${e.region}`,
      to: `/resource/${encodeURIComponent(e.entityId)}`,
    })),
    ...rules.results.map((r): Target => ({
      group: 'Rule',
      icon: 'rules',
      label: r.name,
      detail: `Rule ${r.displayName}`,
      to: `/rules/${encodeURIComponent(r.id)}`,
    })),
    ...found.slice(0, most).map((c): Target => ({
      group: 'Control',
      icon: 'compliance',
      label: c.label,
      detail: 'Control',
      to: `/compliance/${encodeURIComponent(c.framework)}`,
      search: { control: c.number },
    })),
  ];
  // The total of a search by name can be too high; only a continuation token says that there is another page.
  const more = named.length > most || found.length > most || !!entities.continuationToken || !!rules.continuationToken;
  return { targets, more, unsearched };
}
