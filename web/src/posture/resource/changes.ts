import type { ChangeLog, ValueChange } from '../../api/posture';
import { plural } from '../../parts/text';

type Entry = ChangeLog['changeLog'][number];

export interface Difference {
  name: string;
  before?: string;
  after?: string;
}

const text = (value: unknown): string => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));

const ofValues = (changes: Record<string, ValueChange> | undefined, prefix: string): [key: string, Difference][] =>
  Object.entries(changes ?? {}).map(([name, c]) => [
    prefix + name,
    {
      name: prefix + name,
      ...(c.changeType !== 'ADD' ? { before: text(c.oldValue) } : {}),
      ...(c.changeType !== 'DELETE' ? { after: text(c.newValue) } : {}),
    },
  ]);

/** The differences of one change, by the property, tag or edge that changed. Edges with the same label have different targets. */
function changed(entry: Entry): [key: string, Difference][] {
  const edges = (entry.edgeChanges ?? []).map((e): [string, Difference] => {
    const to = e.to.split('.').slice(5).join('.') || e.to;
    return [`${e.label} ${e.to}`, { name: e.label, ...(e.changeType === 'ADD' ? { after: to } : { before: to }) }];
  });
  return [...ofValues(entry.propertyChanges, ''), ...ofValues(entry.tagChanges, 'tag '), ...edges];
}

/** What one entry of a change log says, line by line. */
export const differences = (entry: Entry): Difference[] => changed(entry).map(([, difference]) => difference);

/**
 * Whether an entry of a change log, newest first, was written when the resource was first read: it is the oldest and only adds values.
 * It must add more than three, because a later change that only adds values adds few.
 */
export function isFirstRead(log: Entry[], at: number): boolean {
  const entry = log[at];
  if (!entry || at < log.length - 1) return false;
  const lines = differences(entry);
  return lines.length > 3 && lines.every((l) => l.before === undefined);
}

/** How much one change set: "14 properties, 3 tags, 8 edges". */
export const extent = (entry: Entry): string =>
  [
    [Object.keys(entry.propertyChanges ?? {}).length, 'property', 'properties'] as const,
    [Object.keys(entry.tagChanges ?? {}).length, 'tag', 'tags'] as const,
    [entry.edgeChanges?.length ?? 0, 'edge', 'edges'] as const,
  ]
    .filter(([n]) => n > 0)
    .map(([n, one, many]) => plural(n, one, many))
    .join(', ');

/** What differs between the state after one change and the state after a later one. What changed and changed back is left out. */
export function differencesBetween(log: Entry[], earlier: string, later: string): Difference[] {
  const all = new Map<string, Difference>();
  const entries = log
    .filter((e) => e.lastUpdateTime > earlier && e.lastUpdateTime <= later)
    .sort((a, b) => a.lastUpdateTime.localeCompare(b.lastUpdateTime));
  for (const [key, { name, before, after }] of entries.flatMap(changed)) {
    const start = all.has(key) ? all.get(key)?.before : before;
    all.set(key, { name, ...(start === undefined ? {} : { before: start }), ...(after === undefined ? {} : { after }) });
  }
  return [...all.values()].filter((d) => d.before !== d.after).sort((a, b) => a.name.localeCompare(b.name));
}
