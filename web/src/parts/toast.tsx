import { useSyncExternalStore } from 'react';

/** Short messages about what was done, with a way back for ten seconds. */
interface Toast {
  id: number;
  text: string;
  undo?: () => void;
}

let toasts: Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();
const set = (value: Toast[]) => {
  toasts = value;
  listeners.forEach((listener) => listener());
};
const drop = (id: number) => set(toasts.filter((t) => t.id !== id));

/** Takes a message away, unless somebody points at the messages or has the focus in them. */
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
  const all = useSyncExternalStore(
    (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    () => toasts,
  );
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
