import type { ChangeGroup } from '../../api/desktop';

/** The change whose words stand for a group: the last one with the health that the group's mark shows. */
export const shownOf = (g: ChangeGroup) => g.changes.findLast((c) => c.to_health === g.health) ?? g.changes.at(-1);
