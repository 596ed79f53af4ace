import { posture, type Finding } from '../../api/posture';
import type { Search } from '../../frame/address';
import { saveFile } from '../../parts/file';
import { csv } from '../../parts/csv';
import { say } from '../../parts/toast';
import { filtersOf, sortsOf } from './filters';

const columns: [string, (f: Finding) => string | number][] = [
  ['id', (f) => f.id], ['rule', (f) => f.ruleId], ['level', (f) => f.level], ['risk', (f) => f.riskScore], ['resource', (f) => f.entityId],
  ['cloud_id', (f) => f.objectXid], ['provider', (f) => f.cloudProvider], ['account', (f) => f.cloudAccountId], ['region', (f) => f.region],
  ['service', (f) => f.service], ['status', (f) => f.status], ['suppressed', (f) => String(f.isSuppressed)], ['raised', (f) => f.creationTime], ['resolved', (f) => f.resolvedTime ?? ''],
];

/** Writes every finding of the list to a file. Times are ISO. */
export async function exportFindings(search: Search): Promise<void> {
  say('Reading the findings…');
  const rows: Finding[] = [];
  let token: string | undefined;
  do {
    const page = await posture.post('/v2/findings/query', { body: { filters: filtersOf(search), sorts: sortsOf(search), paginationInfo: { pageSize: 1000, continuationToken: token ?? null } } });
    rows.push(...page.results);
    token = page.continuationToken;
  } while (token);
  saveFile('findings.csv', 'text/csv', csv(columns.map(([name]) => name), rows.map((f) => columns.map(([, read]) => read(f)))));
}
