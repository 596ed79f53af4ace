import { describe, expect, it } from 'vitest';
import { fieldOf, nextSort, sortsOf } from './sort';

describe('sort of the inventory', () => {
  it('translates the address for the API', () => {
    expect(sortsOf('-name')).toEqual([{ fieldName: 'entityName', order: 'desc' }]);
    expect(sortsOf('changed')).toEqual([{ fieldName: 'lastUpdateTime', order: 'asc' }]);
    expect(sortsOf('property.encrypted')).toEqual([{ fieldName: 'property.encrypted', order: 'asc' }]);
  });
  it('ignores columns that do not exist', () => {
    expect(sortsOf('constructor')).toEqual([]);
    expect(sortsOf(undefined)).toEqual([]);
  });
  it('goes through ascending, descending and none', () => {
    expect(nextSort(undefined, 'name')).toBe('name');
    expect(nextSort('name', 'name')).toBe('-name');
    expect(nextSort('-name', 'name')).toBeUndefined();
    expect(nextSort('-type', 'name')).toBe('name');
    expect(fieldOf('-type')).toEqual(['type', 'desc']);
  });
});
