import { posture } from '../api/posture';
import type { Target } from '../frame/JumpBox';
import { shortType } from '../parts/text';

/** Accounts, rules and resources whose name matches. */
export async function jumpTargets(text: string): Promise<Target[]> {
  const [accounts, rules, entities] = await Promise.all([
    posture.post('/v1/cloud-accounts/query', { body: { paginationInfo: { pageSize: 1000 } } }),
    posture.post('/v1/rules/query', { body: { filters: { queryString: text }, paginationInfo: { pageSize: 10 } } }),
    /[\p{L}\p{N}]/u.test(text)
      ? posture.post('/v1/entities/query', { body: { filters: { nameSearch: text }, paginationInfo: { pageSize: 10 } } })
      : { results: [] },
  ]);
  const lower = text.toLowerCase();
  return [
    ...accounts.cloudAccounts
      .filter((a) => `${a.cloudAccountName} ${a.cloudAccountId}`.toLowerCase().includes(lower))
      .slice(0, 10)
      .map((a): Target => ({
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
  ];
}
