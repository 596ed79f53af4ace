import { expect, test, vi } from 'vitest';
import { ApiError } from '../../api/error';

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null })); // parts/time reads its setting when it is imported

const { accountErrors } = await import('./DomainAccounts');

test('an error about one field is shown beside that field only', () => {
  const about = (path: string) => new ApiError(400, `${path} must not be empty`, [{ path, message: 'must not be empty' }]);
  expect(accountErrors(about('ad_domain_id'))).toEqual({ domain: 'must not be empty' });
  expect(accountErrors(about('username'))).toEqual({ username: 'must not be empty' });
  expect(accountErrors(about('password'))).toEqual({ password: 'must not be empty' });
});

test('a refused login is shown beside the password, an account that exists already beside its name', () => {
  const refused = new ApiError(400, 'the domain does not accept the account: WRONG_PASSWORD');
  expect(accountErrors(refused)).toEqual({ password: 'The domain does not accept the account: WRONG_PASSWORD' });
  const conflict = new ApiError(409, 'the domain already has an account with this name');
  expect(accountErrors(conflict)).toEqual({ username: 'The domain already has an account with this name' });
  expect(accountErrors(undefined)).toEqual({});
});
