import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test, vi } from 'vitest';
import { AuditList, type AuditLine } from './AuditList';

// These need state of the browser, which does not exist in unit tests.
vi.mock('./time', () => ({ Time: () => null }));
vi.mock('./Button', () => ({ Button: ({ children }: { children: ReactNode }) => children }));
vi.mock('@tanstack/react-router', () => ({ useNavigate: () => () => undefined, useSearch: () => ({ operation: 'login' }) }));

function drawn(operation: string, hasNextPage: boolean): string {
  const query = { data: {}, hasNextPage } as unknown as UseInfiniteQueryResult;
  const record: AuditLine = { id: 1, time: 0, who: 'ada', operation, targets: {}, outcome: 'success' };
  return renderToStaticMarkup(<AuditList query={query} records={[record]} />);
}

test('older records can be loaded also while none of the newer ones matches', () => {
  expect(drawn('login', true)).toContain('Older');
  expect(drawn('logout', true)).toContain('Older');
  expect(drawn('logout', false)).toContain('No record matches');
  expect(drawn('logout', false)).not.toContain('Older');
});
