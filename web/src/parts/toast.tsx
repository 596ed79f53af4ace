import { useSyncExternalStore } from 'react';

/** A short message about what was done. One that can be undone has the button Undo and stays for ten seconds, others for five. */
interface Toast {
  id: number;
  text: string;
  undo?: () => void;
}

let toasts: Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
const set = (value: Toast[]) => {
  toasts = value;
  listeners.forEach((listener) => listener());
};
const drop = (id: number) => set(toasts.filter((t) => t.id !== id));

/** Removes a message, but not while the pointer or the focus is in the messages. */
function expire(id: number): void {
  if (document.querySelector('.toasts:hover, .toasts:focus-within')) setTimeout(() => expire(id), 1000);
  else drop(id);
}

export function showToast(text: string, undo?: () => void): void {
  const id = next++;
  set([...toasts, undo ? { id, text, undo } : { id, text }]);
  setTimeout(() => expire(id), undo ? 10_000 : 5_000);
}

export function Toasts() {
  const all = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {all.map((t) => (
        <div className="toast" key={t.id}>
          <span className="grow">{t.text}</span>
          {t.undo && (
            <button
              type="button"
              onClick={() => {
                drop(t.id);
                t.undo?.();
              }}
            >
              Undo
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
