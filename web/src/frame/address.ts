import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** The query of an address: plain text values, and lists as joined writes them. */
export type Search = Record<string, string | undefined>;

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

/** Leaves commas and colons readable; empty values are left out. */
export function formatSearch(search: Record<string, unknown>): string {
  const parts = Object.entries(search)
    .filter(([, v]) => v !== undefined && v !== null && v !== '')
    .map(
      ([k, v]) =>
        `${encodeURIComponent(k)}=${encodeURIComponent(String(v)).replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%2F', '/')}`,
    );
  return parts.length ? '?' + parts.join('&') : '';
}

/**
 * Splits a list at its commas. A backslash escapes a comma or another backslash. Before any other character it stands for itself, as in
 * addresses from before the escapes. Those are misread only if a backslash was before a comma or another backslash.
 */
export function listOf(text: string | undefined): string[] {
  if (!text) return [];
  const values: string[] = [];
  let value = '';
  for (const [part] of text.matchAll(/\\[\\,]|[^]/g)) {
    if (part === ',') {
      values.push(value);
      value = '';
    } else value += part.length === 2 ? part.slice(1) : part;
  }
  return [...values, value];
}

/** A list as listOf reads it; undefined if it is empty. */
export const joined = (values: string[]): string | undefined => values.map((v) => v.replace(/[\\,]/g, '\\$&')).join(',') || undefined;

/** The value given in an address if it is a key of the choices, otherwise the fallback. Inherited names such as toString are no keys. */
export const choiceOf = <T extends object, F>(choices: T, given: string | undefined, fallback: F): (keyof T & string) | F =>
  given !== undefined && Object.hasOwn(choices, given) ? (given as keyof T & string) : fallback;

/** Reads and changes the query of the current address. */
export function useAddress() {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const change = useCallback(
    (patch: Search, options: { push?: boolean } = {}) =>
      void navigate({ to: '.', search: (before: Search) => ({ ...before, ...patch }), replace: !options.push } as never),
    [navigate],
  );
  return { search, change };
}

/** Names of search parameters that are not filters: they say what is open and how it is shown. */
const notFilters = [
  'f',
  'id',
  'tab',
  'run',
  'range',
  'from',
  'to',
  'view',
  'show',
  'lang',
  'sort',
  'group',
  'graph',
  'depth',
  'columns',
  'color',
  'way',
  'plan',
  'copy',
  'new',
  'component',
  'code',
  'user',
];

/** Screens on which the parameter q is the text of a query, not a filter. */
const queryScreens = ['/explore', '/rules/new'];

/** The change of the search parameters that removes the filters. */
export const withoutFilters = (search: Search, pathname: string): Search =>
  Object.fromEntries(
    Object.keys(search)
      .filter((name) => !notFilters.includes(name) && !(name === 'q' && queryScreens.includes(pathname)))
      .map((name) => [name, undefined]),
  );
