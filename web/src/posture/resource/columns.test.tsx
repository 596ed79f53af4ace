import { QueryClient, QueryClientProvider, type UseQueryResult } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../api/error';
import type { FindingPage } from '../../api/posture';

vi.hoisted(() => vi.stubGlobal('localStorage', { getItem: () => null })); // parts/time reads its setting when it is imported
vi.mock('../../parts/Button', () => ({ Button: () => null })); // needs state of the browser, which does not exist in unit tests

const { FindingsColumn, FindingsPill } = await import('./columns');

function drawn(query: object): string {
  const findings = query as UseQueryResult<FindingPage>;
  const markup = renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <FindingsPill query={findings} />
      <FindingsColumn query={findings} />
    </QueryClientProvider>,
  );
  return markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

test('a resource is said to have no findings only after its findings were read', () => {
  const none = /No open finding|No rule has found|0 open/;
  expect(drawn({ data: { results: [] } })).toMatch(none);
  expect(drawn({})).not.toMatch(none);
  const failed = drawn({ error: new ApiError(500, 'internal error') });
  expect(failed).not.toMatch(none);
  expect(failed).toContain('Findings unknown');
  expect(failed).toContain('The list of findings could not be read');
});
