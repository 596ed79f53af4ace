import { useEffect, useRef } from 'react';

/** One key of a screen. Keys read "j", "Shift+F", "Ctrl+Enter", "g o". */
export interface Key {
  keys: string;
  does: string;
  run: (event: KeyboardEvent) => void;
}

// The layer that was mounted last is asked first: a drawer's Esc comes before the page's.
const layers: { current: Key[] }[] = [];
let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

/** The keys that work now: first those of the topmost layer, last those of the frame. */
export const currentKeys = (): Key[] => [...layers].reverse().flatMap((layer) => layer.current);

/** The keys by what they do. Of a key that several layers have, only the description of the topmost layer is included. */
export function shortcuts(keys: Pick<Key, 'keys' | 'does'>[]): Map<string, string[]> {
  const all = new Map<string, string[]>();
  const seen = new Set<string>();
  for (const { keys: spelled, does } of keys) {
    if (!does || seen.has(spelled.toLowerCase())) continue;
    seen.add(spelled.toLowerCase());
    all.set(does, [...(all.get(does) ?? []), spelled]);
  }
  return all;
}

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.shadowRoot) return true; // the code editor, the only component with a shadow root
  return (
    target.isContentEditable ||
    ['TEXTAREA', 'SELECT'].includes(target.tagName) ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type))
  );
}

/** Enter and Space on a link, a button or a checkbox are for that element, not for the screen. */
function activates(event: KeyboardEvent): boolean {
  const own = event.key === 'Enter' ? 'a[href], button, summary, input' : event.key === ' ' ? 'button, summary, input' : '';
  return own !== '' && event.target instanceof Element && event.target.closest(own) !== null;
}

/** Focuses an element once it is in the page, which takes up to two frames after the change that draws it. */
export function focusSoon(selector: string): void {
  requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus()));
}

/** An input method uses the key: Enter accepts what it suggests, and must not do anything else. */
export const composing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229; // Safari ends the composition before it reports the key

function spell(event: KeyboardEvent): string {
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const shifted = event.shiftKey && /^[a-z]$/.test(name) ? 'Shift+' : '';
  return `${event.ctrlKey || event.metaKey ? 'Ctrl+' : ''}${event.altKey ? 'Alt+' : ''}${shifted}${name}`;
}

function find(keys: string): Key | undefined {
  for (const layer of [...layers].reverse()) {
    const key = layer.current.find((k) => k.keys.toLowerCase() === keys.toLowerCase());
    if (key) return key;
  }
  return undefined;
}

function listen(event: KeyboardEvent): void {
  if (composing(event)) return;
  const spelled = spell(event);
  const chord = spelled.startsWith('Ctrl+') || spelled.startsWith('Alt+') || spelled === 'Escape';
  if (event.defaultPrevented || (typing(event.target) && !chord) || activates(event)) return;
  // An open dialog closes itself on Esc, unless the default of the key is prevented.
  if (document.querySelector('dialog[open]') && (!chord || spelled === 'Escape')) return;
  const key = find(prefix ? `${prefix} ${spelled}` : spelled);
  clearTimeout(prefixTimer);
  const starts = !prefix && !key && layers.some((l) => l.current.some((k) => k.keys.startsWith(spelled + ' ')));
  prefix = starts ? spelled : '';
  if (starts) prefixTimer = setTimeout(() => (prefix = ''), 1200);
  if (!key) return;
  event.preventDefault();
  key.run(event);
}

/** Makes the keys of a layer work until the function that it returns is called. */
export function addLayer(layer: { current: Key[] }, of: 'screen' | 'frame'): () => void {
  if (layers.length === 0) window.addEventListener('keydown', listen);
  if (of === 'frame') layers.unshift(layer);
  else layers.push(layer);
  return () => {
    layers.splice(layers.indexOf(layer), 1);
    if (layers.length === 0) window.removeEventListener('keydown', listen);
  };
}

/** Makes keys work while the component is mounted. Keys of the frame come after those of every screen, which may be mounted before it. */
export function useKeys(keys: Key[], of: 'screen' | 'frame' = 'screen'): void {
  const layer = useRef(keys);
  layer.current = keys;
  useEffect(() => addLayer(layer, of), [of]);
}
