import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../../api/error';
import type { AccountLimit } from '../../api/posture';
import { ManyField } from '../../parts/ManyField';
import { accountsQuery } from '../data';
import { limitTexts, pairsOf } from './limits';

function parseTag(text: string): { value: string } | { error: string } {
  return /^[^=]+=/.test(text) ? { value: text } : { error: 'Write a tag as name=value.' };
}

/** The state of a form that edits which accounts a user or token is limited to. A limit of null means all accounts. */
export function useLimit(old?: AccountLimit) {
  const [ids, setIds] = useState(old?.cloudAccountIds ?? []);
  const [pairs, setPairs] = useState(pairsOf(old));
  const tags: Record<string, string[]> = {};
  for (const pair of pairs) {
    const name = pair.slice(0, pair.indexOf('='));
    tags[name] = [...(tags[name] ?? []), pair.slice(name.length + 1)];
  }
  const limit: AccountLimit | null = ids.length + pairs.length === 0 ? null : { cloudAccountIds: ids, tags };
  return { ids, setIds, pairs, setPairs, limit };
}

/** The members whose messages LimitFields shows. */
export const limitPaths = ['limitedTo', 'limitedTo.cloudAccountIds', 'limitedTo.tags'];

export function LimitFields({ ids, setIds, pairs, setPairs, error }: ReturnType<typeof useLimit> & { error: ApiError | undefined }) {
  const accounts = useQuery(accountsQuery).data ?? [];
  return (
    <>
      <ManyField
        label="Limited to accounts"
        values={ids}
        onChange={setIds}
        options={accounts.map((a) => ({ value: a.cloudAccountId, label: `${a.cloudAccountName} (${a.cloudAccountId})` }))}
        hint="All accounts when left empty. An admin cannot be limited."
        error={error?.field('limitedTo') ?? error?.field('limitedTo.cloudAccountIds')}
      />
      <ManyField
        label="Limited to accounts with a tag"
        values={pairs}
        onChange={setPairs}
        parse={parseTag}
        placeholder="team=payments"
        error={error?.field('limitedTo.tags')}
      />
    </>
  );
}

/** Says that a user or token is limited, and to what. */
export function LimitPill({ limit }: { limit: AccountLimit | undefined }) {
  if (!limit) return null;
  return (
    <span className="pill" title={limitTexts(limit).join(', ')}>
      some accounts
    </span>
  );
}
