import { expect, test } from 'vitest';
import { ApiError } from './error';

test('a message that stands beside a field is not repeated elsewhere', () => {
  const error = new ApiError(400, 'body: "name" must not be empty', [{ path: 'body.name', message: 'must not be empty' }]);
  expect(error.field('name')).toBe('must not be empty');
  expect(error.apartFrom('role', 'name')).toBeUndefined();
});

test('a message is kept if it is about any field that is not shown', () => {
  const message = 'name must not be empty; channelIds must have at most 20 items';
  const fields = [
    { path: 'name', message: 'must not be empty' },
    { path: 'channelIds', message: 'must have at most 20 items' },
  ];
  expect(new ApiError(400, message, fields).apartFrom('name')).toBe(message);
  expect(new ApiError(400, message, fields).apartFrom('name', 'channelIds')).toBeUndefined();
});

test('a message that is about no field, or about none that is shown, is kept', () => {
  const message = 'your token is limited';
  expect(new ApiError(403, message).apartFrom('name')).toBe(message);
  expect(new ApiError(400, message, [{ path: 'userId', message: 'is not a user' }]).apartFrom('name')).toBe(message);
});
