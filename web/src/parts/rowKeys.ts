import type { Key } from './keys';

/** The element that opens a row: the first visible link or button of its header cell, or else of the whole row. */
export function openerOf(row: Element): HTMLElement | undefined {
  const first = (selector: string) =>
    [...row.querySelectorAll<HTMLElement>(selector)].find((element) => element.getClientRects().length > 0);
  return first('th a[href], th button:enabled') ?? first('a[href], button:enabled');
}

const rows = () => [...document.querySelectorAll('main tbody tr, main ul.list > li')].filter((row) => openerOf(row) !== undefined);

/** Moves the focus to another row; from outside the list to its first row. */
function move(by: number): void {
  const all = rows();
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const next = all[at < 0 ? 0 : Math.max(0, Math.min(at + by, all.length - 1))];
  if (next) openerOf(next)?.focus();
}

const clickInRow = (selector: string) =>
  document.activeElement?.closest('main tbody tr, main ul.list > li')?.querySelector<HTMLElement>(selector)?.click();

/** Keys of every list that has none of its own. Enter needs no key here: the browser follows the focused link. */
export const rowKeys: Key[] = [
  { keys: 'j', does: 'Next row', run: () => move(1) },
  { keys: 'k', does: 'Previous row', run: () => move(-1) },
  { keys: 'x', does: 'Select the row', run: () => clickInRow('input[type="checkbox"]') },
  { keys: '.', does: 'More actions of the row', run: () => clickInRow('[aria-haspopup="menu"]') },
];
