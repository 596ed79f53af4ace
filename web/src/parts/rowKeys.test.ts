import { expect, test } from 'vitest';
import { openerOf } from './rowKeys';

interface Part {
  name: string;
  /** The selectors that match the part. */
  found: string[];
  hidden?: boolean;
}

/** A row that finds its parts in their order, as the browser does. */
const row = (...parts: Part[]) =>
  ({
    querySelectorAll: (selector: string) =>
      parts
        .filter((part) => part.found.some((f) => selector.split(', ').includes(f)))
        .map(({ name, hidden }) => ({ name, getClientRects: () => (hidden ? [] : [{}]) })),
  }) as unknown as Element;

const toggle = { name: 'on', found: ['button:enabled'] };
const link = { name: 'rule', found: ['th a[href]', 'a[href]'] };

test('a row is opened by the link in its header cell, also if a switch comes before the link', () => {
  expect(openerOf(row(toggle, link))).toMatchObject({ name: 'rule' });
});

test('a row without a visible link in its header cell is opened by its first visible link or button', () => {
  expect(openerOf(row(toggle, { ...link, hidden: true }))).toMatchObject({ name: 'on' });
  expect(openerOf(row())).toBeUndefined();
});
