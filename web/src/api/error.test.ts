import { expect, test } from 'vitest';
import { ApiError } from './error';

test('a message that stands beside a field is not repeated elsewhere', () => {
  const error = new ApiError(400, 'body: "name" must not be empty', [{ path: 'body.name', message: 'must not be empty' }]);
  expect(error.field('name')).toBe('must not be empty');
  expect(error.apartFrom('role', 'name')).toBeUndefined();
});

test('a message about no field that is shown, or about none, is a message as a whole', () => {
  const message = 'your token is limited';
  expect(new ApiError(403, message).apartFrom('name')).toBe(message);
  expect(new ApiError(400, message, [{ path: 'userId', message: 'is not a user' }]).apartFrom('name')).toBe(message);
});
