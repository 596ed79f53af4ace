import { expect, onTestFinished, test, vi } from 'vitest';
import { ApiError } from '../api/error';
import { jumpTargets } from './jump';

interface Body {
  filters?: { queryString?: string; nameSearch?: string };
  paginationInfo: { continuationToken?: string | null };
}

const account = (id: string, name: string) => ({ cloudAccountId: id, cloudAccountName: name });

let controlsFail = false;

vi.mock('../api/posture', () => ({
  posture: {
    get: () => (controlsFail ? Promise.reject(new ApiError(503, 'the database is busy')) : Promise.resolve({ results: [] })),
    post: (path: string, { body }: { body: Body }) => {
      if (path === '/v1/rules/query' && body.filters?.queryString === 'many rules')
        return Promise.resolve({ results: [], continuationToken: 'next' });
      if (path === '/v1/entities/query') {
        const words = body.filters!.nameSearch!.match(/[\p{L}\p{Nd}]+/gu)?.length ?? 0;
        if (words < 1 || words > 12) return Promise.reject(new Error('400'));
      }
      if (path !== '/v1/cloud-accounts/query') return Promise.resolve({ results: [] });
      return Promise.resolve(
        body.paginationInfo.continuationToken
          ? { cloudAccounts: [account('2', 'payroll')] }
          : { cloudAccounts: [account('1', 'website')], continuationToken: 'next' },
      );
    },
  },
}));

test('an account on a later page is found', async () => {
  expect(await jumpTargets('payr')).toMatchObject({ targets: [{ group: 'Account', label: 'payroll', to: '/accounts/2' }], more: false });
});

test('more is true if there is another page of rules', async () => {
  expect((await jumpTargets('many rules')).more).toBe(true);
});

test('a text with more words than the server accepts for names of resources is searched without resources, which is said', async () => {
  expect(await jumpTargets(Array(13).fill('word').join(' '))).toEqual({
    targets: [],
    more: false,
    unsearched: ['Resources were not searched: the text has more than 12 words.'],
  });
  expect((await jumpTargets(Array(12).fill('word').join(' '))).unsearched).toEqual([]);
});

test('a text without letters and digits is searched without resources, which is said', async () => {
  for (const text of ['::', '½ ½'])
    // the server does not count fractions as digits
    expect((await jumpTargets(text)).unsearched).toEqual(['Resources were not searched: the text has no letters or digits.']);
  expect((await jumpTargets('10.0.0.1')).unsearched).toEqual([]);
});

test('if the controls cannot be read, the search says so, finds the others, and reads the controls again the next time', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 }); // the controls that other tests have read are too old
  onTestFinished(() => void vi.useRealTimers());
  controlsFail = true;
  expect(await jumpTargets('payr')).toMatchObject({
    targets: [{ group: 'Account', label: 'payroll' }],
    unsearched: ['Controls were not searched. The database is busy'],
  });
  controlsFail = false;
  expect((await jumpTargets('payr')).unsearched).toEqual([]);
});
