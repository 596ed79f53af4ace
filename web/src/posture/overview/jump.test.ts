import { describe, expect, it } from 'vitest';
import { jumpText, largestJump } from './jump';

const series = (...open: number[]) => ({
  times: open.map((_, i) => `2026-11-${String(i + 1).padStart(2, '0')}T00:00:00Z`),
  levels: [{ name: 'high' as const, open }],
  raised: [],
  resolved: [],
});
const account = (cloudAccountName: string, createdTime: string) => ({ cloudAccountName, createdTime });

describe('the largest jump of the trend', () => {
  it('is the largest increase, with the account that was linked then', () => {
    const jump = largestJump(series(100, 101, 146, 150), [
      account('aws-demo-2', '2026-11-03T11:00:00Z'),
      account('other', '2026-11-04T00:00:00Z'),
    ]);
    expect(jump).toEqual({ at: 2, more: 45, linked: ['aws-demo-2'] });
    expect(jump && jumpText(jump)).toBe('aws-demo-2 linked, +45');
  });
  it('is not marked when it does not stand out', () => {
    expect(largestJump(series(100, 103, 106), [])).toBeUndefined();
    expect(largestJump(series(100, 60, 20), [])).toBeUndefined();
    expect(largestJump(series(), [])).toBeUndefined();
    expect(largestJump(series(300), [])).toBeUndefined();
  });
  it('names no account when several or none were linked', () => {
    const all = [account('a', '2026-11-02T00:00:00Z'), account('b', '2026-11-02T12:00:00Z')];
    const jump = largestJump(series(0, 20), all);
    expect(jump && jumpText(jump)).toBe('2 accounts linked, +20');
    expect(jumpText({ at: 1, more: 20, linked: [] })).toBe('+20');
  });
});
