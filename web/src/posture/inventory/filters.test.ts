import { describe, expect, it } from 'vitest';
import { searches } from '../explore/questions';
import { filtersOf } from './filters';

describe('the filters of the inventory', () => {
  const conditions = [...searches.map((s) => s.query), 'EXISTS (tag.a)', 'tag.a = b and tag.c = d', 'NOT tag.a'];
  it.each(conditions)('%s is a condition', (q) => expect(filtersOf({ q }, undefined)).toEqual({ query: q }));
  it.each(['prod web', 'do-not-delete', 'rock and roll', 'exists'])('%s is a part of a name', (q) =>
    expect(filtersOf({ q }, undefined)).toEqual({ nameSearch: q }),
  );
  it('are of the type and the accounts too', () =>
    expect(filtersOf({ account: 'a,b' }, 'AWS.S3.Bucket')).toEqual({ entityTypes: ['AWS.S3.Bucket'], cloudAccountIds: ['a', 'b'] }));
});
