import type { AccountLimit } from '../../api/posture';

/** The tags of a limit, each as name=value. */
export const pairsOf = (limit: AccountLimit | undefined) =>
  Object.entries(limit?.tags ?? {}).flatMap(([name, values]) => values.map((v) => `${name}=${v}`));

/** What a limit allows, in an order that does not depend on the order of the limit. */
export const limitTexts = (limit: AccountLimit | null | undefined) =>
  limit ? [...(limit.cloudAccountIds ?? []), ...pairsOf(limit)].sort() : ['All accounts'];
