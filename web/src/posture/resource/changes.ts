import type { ChangeLog, ValueChange } from '../../api/posture';

export interface Difference {
  name: string;
  before?: string;
  after?: string;
}

const text = (value: unknown): string => (value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value));

const ofValues = (changes: Record<string, ValueChange> | undefined, prefix: string): Difference[] =>
  Object.entries(changes ?? {}).map(([name, c]) => ({
    name: prefix + name,
    ...(c.changeType !== 'ADD' ? { before: text(c.oldValue) } : {}),
    ...(c.changeType !== 'DELETE' ? { after: text(c.newValue) } : {}),
  }));

/** What one entry of a change log says, line by line. */
export function differences(entry: ChangeLog['changeLog'][number]): Difference[] {
  return [
    ...ofValues(entry.propertyChanges, ''),
    ...ofValues(entry.tagChanges, 'tag '),
    ...(entry.edgeChanges ?? []).map((e) => ({
      name: e.label,
      ...(e.changeType === 'ADD'
        ? { after: e.to.split('.').slice(5).join('.') || e.to }
        : { before: e.to.split('.').slice(5).join('.') || e.to }),
    })),
  ];
}
