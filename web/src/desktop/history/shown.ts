import type { ChangeGroup } from '../../api/desktop';

/** The change that describes a group: the last one to the health that the group's mark shows, or else the last one. */
export const shownOf = (g: ChangeGroup) => g.changes.findLast((c) => c.to_health === g.health) ?? g.changes.at(-1);
