import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { aroundQuery } from '../graph/load';
import { DryRunGraph, type Found } from './DryRunGraph';

vi.mock('@tanstack/react-router', () => ({ useNavigate: () => () => undefined }));

function drawn(found: Found[], total: number, complete: boolean): string {
  const client = new QueryClient();
  const asked = found.map((f) => ({ id: f.entityId, account: f.account }));
  client.setQueryData(aroundQuery(asked).queryKey, { nodes: new Map(), edges: [], cut: false });
  const markup = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <DryRunGraph found={found} total={total} complete={complete} />
    </QueryClientProvider>,
  );
  return markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}

test('the graph of an empty dry run says that no resource violates the rule only if everything was read', () => {
  expect(drawn([], 0, true)).toContain('No resource violates the rule, and none is unknown.');
  const incomplete = drawn([], 0, false);
  expect(incomplete).not.toContain('No resource violates');
  expect(incomplete).toContain('not everything could be read');
});

test('the graph counts the resources that the server found, not only those that it listed', () => {
  const found = [{ entityId: 'a', account: '1', violates: true }];
  expect(drawn(found, 2500, true)).toContain('The graph has 1 of 2,500 resources, those that violate the rule first.');
  expect(drawn(found, 1, true)).not.toContain('The graph has');
});
