import type { Verdicts } from '../../api/posture';
import { plural } from '../../parts/text';

/** In how many accounts verdicts are unknown; if all verdicts are known, in how many accounts types were not read. */
export function unknownText({ results, unread = [] }: Verdicts): string {
  const accounts = (of: { cloudAccountId: string }[]) => new Set(of.map((x) => x.cloudAccountId)).size;
  const unknown = accounts(results.filter((v) => v.unknown > 0));
  if (unknown > 0) return `verdicts in ${plural(unknown, 'account')}`;
  return unread.length > 0 ? `${plural(accounts(unread), 'account')} not fully read` : 'everything was read';
}
