import type { ChangeGroup } from '../../api/desktop';

/** The change that describes a group: the last change to the health of the group, or else the last change. */
export const shownOf = (g: ChangeGroup) => g.changes.findLast((c) => c.to_health === g.health) ?? g.changes.at(-1);
