import { expect, test } from 'vitest';
import { shortcuts } from './keys';

test('keys are listed in their order, with all keys that do the same', () => {
  const all = shortcuts([
    { keys: 'Escape', does: 'Close the drawer' },
    { keys: '1', does: 'Show open' },
    { keys: 'Ctrl+k', does: 'Search' },
    { keys: '/', does: 'Search' },
  ]);
  expect([...all]).toEqual([
    ['Close the drawer', ['Escape']],
    ['Show open', ['1']],
    ['Search', ['Ctrl+k', '/']],
  ]);
});

test('a key of a layer hides that of the layers below, and one without a description is not listed', () => {
  const all = shortcuts([
    { keys: 's', does: 'Suppress this' },
    { keys: 'S', does: 'Suppress' },
    { keys: 'Tab', does: '' },
  ]);
  expect([...all.keys()]).toEqual(['Suppress this']);
});
