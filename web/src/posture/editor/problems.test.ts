import { expect, test } from 'vitest';
import { ApiError } from '../../api/error';
import { queryProblems } from './problems';

const positions = (message: string) => queryProblems(new ApiError(400, message)).map((p) => [p.line, p.column]);

test('the position of an error is read from its message', () => {
  expect(positions('gremlin: line 3, column 24: unknown step')).toEqual([[3, 24]]);
});

test('digits in the data that a message quotes are not a position', () => {
  for (const data of ['arn:aws:iam::123456789012:role/r', 'arn:aws:logs:eu-west-1:123456789012:12:x', '2026-11-15T10:15:00Z', '10:24'])
    expect(positions(`gremlin: cannot compare "${data}" with a number`), data).toEqual([[undefined, undefined]]);
});

test('the members line and column take precedence over the message', () => {
  const error = new ApiError(400, '', [{ path: 'query', message: 'line 9, column 9', line: 1, column: 2 }]);
  expect(queryProblems(error)).toEqual([{ path: 'query', message: 'line 9, column 9', line: 1, column: 2 }]);
});

test('only a refused request has problems of its query', () => {
  expect(queryProblems(new ApiError(503, 'line 1, column 1'))).toEqual([]);
  expect(queryProblems(new Error('line 1, column 1'))).toEqual([]);
});
