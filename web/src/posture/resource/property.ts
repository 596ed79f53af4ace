import type { Property } from '../../api/posture';

/** The value of a property as text. */
export function propertyText(p: Property): string {
  if (p.type === 'bool') return String(p.boolV);
  if (p.type === 'long') return String(p.longV);
  if (p.type === 'unknown') return 'unknown';
  return p.stringV ?? '';
}
