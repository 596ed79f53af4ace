import { afterEach, describe, expect, it, vi } from 'vitest';
import { formatSearch, parseSearch } from '../../frame/address';
import { activeNames, cleared, filtersOf } from './filters';

const zone = process.env.TZ;
afterEach(() => {
  vi.useRealTimers();
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

describe('the filters of an address', () => {
  const search = parseSearch('?level=High,Low&account=A&tag.env=prod&q=ssh&f=1');
  it('become filters of the API', () => {
    expect(filtersOf(search)).toEqual({
      status: 'Open',
      isSuppressed: false,
      levels: ['High', 'Low'],
      cloudAccountIds: ['A'],
      cloudTags: { env: ['prod'] },
      queryString: 'ssh',
    });
  });
  it('omit one filter, to count what each of its values would match', () => {
    expect(filtersOf(search, 'level').levels).toBeUndefined();
    expect(filtersOf(search, 'tag.env').cloudTags).toBeUndefined();
  });
  it('take the day in UTC, as the trend of the server does', () => {
    process.env.TZ = 'Asia/Tokyo'; // whose midnight is 15:00 UTC
    vi.useFakeTimers({ now: new Date('2026-11-18T16:00:00Z') });
    expect(filtersOf({ since: 'today' }).createdFrom).toBe('2026-11-18T00:00:00.000Z');
  });
  it('are cleared without closing the drawer', () => {
    expect(activeNames(search)).toEqual(['level', 'account', 'tag.env', 'q']);
    expect({ ...search, ...cleared(search) }.f).toBe('1');
  });
  it('are written readably, and read back the same', () => {
    expect(formatSearch(search)).toBe('?level=High,Low&account=A&tag.env=prod&q=ssh&f=1');
    expect(parseSearch(formatSearch({ q: 'a b&c=ü', empty: '' }))).toEqual({ q: 'a b&c=ü' });
  });
});
