import { expect, test, vi } from 'vitest';
import { addLayer, shortcuts } from './keys';

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

/** A page with or without an open dialog, to press keys on. Pressing returns false if a shortcut took the key. */
function pageWith(dialog: object | null) {
  const page = new EventTarget();
  vi.stubGlobal('window', page);
  vi.stubGlobal('document', { querySelector: () => dialog });
  vi.stubGlobal('HTMLElement', class {});
  vi.stubGlobal('Element', class {});
  return (key: object) => page.dispatchEvent(Object.assign(new Event('keydown', { cancelable: true }), key));
}

test('Esc closes the dialog that is open, and nothing below it', () => {
  const press = pageWith({});
  const run = vi.fn();
  const remove = addLayer({ current: ['Ctrl+Enter', 'Escape'].map((keys) => ({ keys, does: keys, run })) }, 'screen');
  expect(press({ key: 'Escape' })).toBe(true);
  expect(run).not.toHaveBeenCalled();
  expect(press({ key: 'Enter', ctrlKey: true })).toBe(false);
  expect(run).toHaveBeenCalledOnce();
  remove();
  vi.unstubAllGlobals();
});

test('a key that an input method uses is no shortcut', () => {
  const press = pageWith(null);
  const run = vi.fn();
  const remove = addLayer({ current: ['j', 'Ctrl+Enter', 'Escape'].map((keys) => ({ keys, does: 'Something', run })) }, 'screen');
  const keys = [{ key: 'j' }, { key: 'Enter', ctrlKey: true }, { key: 'Escape' }];
  for (const key of keys) {
    expect(press({ ...key, isComposing: true }), key.key).toBe(true);
    expect(press({ ...key, keyCode: 229 }), key.key).toBe(true);
  }
  expect(run).not.toHaveBeenCalled();
  for (const key of keys) expect(press(key), key.key).toBe(false);
  expect(run).toHaveBeenCalledTimes(3);
  remove();
  vi.unstubAllGlobals();
});
