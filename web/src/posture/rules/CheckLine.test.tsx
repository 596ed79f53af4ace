import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ApiError } from '../../api/error';
import { CheckLine } from './CheckLine';

const drawn = (check: Partial<Parameters<typeof CheckLine>[0]>) =>
  renderToStaticMarkup(<CheckLine problems={[]} isEmpty={false} reads={undefined} failure={undefined} {...check} />);
const reads = { findsTypes: ['AWS.S3.Bucket'], entityTypes: [], properties: ['name'], edges: [], clock: false, notInSchema: [] };

test('a query has no problems only once the server has said so', () => {
  expect(drawn({ reads })).toContain('No problems');
  expect(drawn({ reads })).toContain('AWS.S3.Bucket');
  expect(drawn({})).toContain('Checking it');
});

test('the first problem is shown, whatever else is known', () => {
  const problem = { path: 'query', message: 'is odd' };
  expect(drawn({ problems: [problem], reads })).toContain('Is odd');
  expect(drawn({ problems: [problem], reads })).not.toContain('No problems');
});

test('a query that is empty or could not be checked is not said to be checked', () => {
  expect(drawn({ isEmpty: true })).toContain('Write a query');
  expect(drawn({ failure: new ApiError(503, 'limit reached') })).toContain('It could not be checked: Limit reached');
});

test('a checked query stays checked when a later check of it fails', () => {
  const again = drawn({ reads, failure: new ApiError(503, 'limit reached') });
  expect(again).toContain('No problems');
  expect(again).not.toContain('could not be checked');
});
