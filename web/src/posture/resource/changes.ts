import type { ChangeLog, ValueChange } from '../../api/posture';
import { plural } from '../../parts/text';

type Entry = ChangeLog['changeLog'][number];

export interface Difference {
  name: string;
  before?: string;
  after?: string;
}

const text = (value: unknown): string => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));

/** A difference with a key that names what changed: a property, a tag, or the edges with one label to one target. */
interface Change extends Difference {
  key: string;
  /** The edge exists before and after, with other properties. The change log does not have these. */
  otherProperties?: boolean;
}

const ofValues = (changes: Record<string, ValueChange> | undefined, prefix: string): Change[] =>
  Object.entries(changes ?? {}).map(([name, c]) => ({
    key: prefix + name,
    name: prefix + name,
    ...(c.changeType !== 'ADD' ? { before: text(c.oldValue) } : {}),
    ...(c.changeType !== 'DELETE' ? { after: text(c.newValue) } : {}),
  }));

/** The changes of edges. An edge that one entry deletes and adds has other properties. */
function ofEdges(changes: Entry['edgeChanges']): Change[] {
  const all = new Map<string, Change>();
  for (const { changeType, label, to } of changes ?? []) {
    const key = `${label} ${to}`;
    const target = to.split('.').slice(5).join('.') || to;
    const change = { key, name: label, ...all.get(key), ...(changeType === 'ADD' ? { after: target } : { before: target }) };
    all.set(key, { ...change, otherProperties: change.before !== undefined && change.after !== undefined });
  }
  return [...all.values()];
}

const changed = (entry: Entry): Change[] => [
  ...ofValues(entry.propertyChanges, ''),
  ...ofValues(entry.tagChanges, 'tag '),
  ...ofEdges(entry.edgeChanges),
];

const line = ({ name, before, after, otherProperties }: Change): Difference => ({
  name,
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after: otherProperties && before !== undefined ? `${after}, other properties` : after }),
});

/** What one entry of a change log says, line by line. */
export const differences = (entry: Entry): Difference[] => changed(entry).map(line);

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
    [ofEdges(entry.edgeChanges).length, 'edge', 'edges'] as const,
  ]
    .filter(([n]) => n > 0)
    .map(([n, one, many]) => plural(n, one, many))
    .join(', ');

/**
 * The differences between the state after one change and the state after a later one. A value that changed and changed back is left
 * out; an edge whose properties changed is not, because the change log does not have their values.
 */
export function differencesBetween(log: Entry[], earlier: string, later: string): Difference[] {
  const all = new Map<string, Change>();
  const entries = log
    .filter((e) => e.lastUpdateTime > earlier && e.lastUpdateTime <= later)
    .sort((a, b) => a.lastUpdateTime.localeCompare(b.lastUpdateTime));
  for (const change of entries.flatMap(changed)) {
    const first = all.get(change.key) ?? change;
    all.set(change.key, { ...change, before: first.before, otherProperties: first.otherProperties || change.otherProperties });
  }
  return [...all.values()]
    .filter((c) => c.before !== c.after || (c.otherProperties && c.before !== undefined))
    .map(line)
    .sort((a, b) => a.name.localeCompare(b.name));
}
