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

/** The values of a list. A comma or backslash after a backslash is part of a value; another backslash is itself, as before there were escapes. */
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

/** What an address says besides its filters: what is open, and how it is shown. */
const kept = [
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

/** Screens on which q is the text of a query in a language, and not a filter. */
const queryScreens = ['/explore', '/rules/new'];

/** A change of an address that removes its filters. */
export const withoutFilters = (search: Search, pathname: string): Search =>
  Object.fromEntries(
    Object.keys(search)
      .filter((name) => !kept.includes(name) && !(name === 'q' && queryScreens.includes(pathname)))
      .map((name) => [name, undefined]),
  );
