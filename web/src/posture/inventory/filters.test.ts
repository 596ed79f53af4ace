import { describe, expect, it } from 'vitest';
import { searches } from '../explore/questions';
import { exploreOf, filtersOf, withType } from './filters';

describe('the filters of the inventory', () => {
  const conditions = [...searches.map((s) => s.query), 'EXISTS (tag.a)', 'tag.a = b and tag.c = d', 'NOT tag.a'];
  it.each(conditions)('%s is a condition', (q) => expect(filtersOf({ q }, undefined)).toEqual({ query: q }));
  it.each(['prod web', 'do-not-delete', 'rock and roll', 'exists'])('%s is a part of a name', (q) =>
    expect(filtersOf({ q }, undefined)).toEqual({ nameSearch: q }),
  );
  it('include the type and the accounts', () =>
    expect(filtersOf({ account: 'a,b' }, 'AWS.S3.Bucket')).toEqual({ entityTypes: ['AWS.S3.Bucket'], cloudAccountIds: ['a', 'b'] }));
});

describe('the inventory as a query of Explore', () => {
  it('has a condition of a type in parentheses, because AND comes before OR', () => {
    expect(exploreOf({ q: 'tag.a = b OR tag.c = d', account: 'x' }, 'AWS.S3.Bucket')).toEqual({
      lang: 'search',
      q: 'entityType = AWS.S3.Bucket AND (tag.a = b OR tag.c = d)',
      account: 'x',
    });
    expect(exploreOf({ q: 'tag.a = b' }, undefined).q).toBe('tag.a = b');
  });
  it('is Gremlin for a type, and for parts of names', () => {
    expect(exploreOf({}, undefined)).toEqual({ q: 'g.V().limit(100)' });
    expect(exploreOf({ account: 'x' }, 'AWS.S3.Bucket')).toEqual({ q: "g.V().hasLabel('AWS.S3.Bucket').limit(100)", account: 'x' });
    expect(exploreOf({ q: 'Serv-9' }, 'AWS.S3.Bucket').q).toBe(
      "g.V().hasLabel('AWS.S3.Bucket')" +
        ".has('entityName', regex('(^|[^\\\\p{L}\\\\p{Nd}])(?i:serv)|S(?i:erv)'))" +
        ".has('entityName', regex('(^|[^\\\\p{L}\\\\p{Nd}])(?i:9)([^\\\\p{L}\\\\p{Nd}]|$)')).limit(100)",
    );
  });
});

describe('another type', () => {
  const search = { q: 'prod', type: 'AWS.EC2.Volume', columns: 'encrypted,size', sort: '-property.size' };
  it('has its own columns, and is not sorted by a property of the last one', () =>
    expect(withType(search, 'AWS.S3.Bucket')).toEqual({ q: 'prod', type: 'AWS.S3.Bucket', columns: undefined, sort: undefined }));
  it('keeps the sort by a column that every type has', () => {
    expect(withType({ ...search, sort: '-name' }, undefined)).toEqual({ q: 'prod', type: undefined, columns: undefined, sort: '-name' });
    expect(withType({ sort: 'type' }, 'AWS.S3.Bucket').sort).toBeUndefined();
  });
  it('changes nothing if it is the same', () => expect(withType(search, search.type)).toEqual(search));
});
