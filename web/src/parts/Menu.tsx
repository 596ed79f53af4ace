import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { Button } from './Button';
import type { IconName } from './Icon';

export interface MenuChoice {
  label: string;
  run: () => void;
  /** Why the caller may not do this; the choice is off then. */
  refused?: string | undefined;
}

/** A button that opens a few actions below it. Arrows move, Esc closes. */
export function Menu({
  label,
  icon,
  text,
  choices,
  className = '',
}: {
  label: string;
  icon?: IconName;
  text?: string;
  choices: MenuChoice[];
  className?: string;
}) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const id = useId();
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>('[role="menuitem"]:not(:disabled)')?.focus();
    const outside = (e: PointerEvent) => !box.current?.contains(e.target as Node) && setOpen(false);
    window.addEventListener('pointerdown', outside);
    return () => window.removeEventListener('pointerdown', outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    box.current?.querySelector<HTMLElement>('button')?.focus();
  };
  const onKey = (e: KeyboardEvent) => {
    if (!open) return;
    const items = [...(box.current?.querySelectorAll<HTMLElement>('[role="menuitem"]:not(:disabled)') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (e.key === 'Escape') close();
    else if (e.key === 'ArrowDown') items[(at + 1) % items.length]?.focus();
    else if (e.key === 'ArrowUp') items[(at - 1 + items.length) % items.length]?.focus();
    else if (e.key === 'Tab') return setOpen(false);
    else return;
    e.preventDefault();
    e.stopPropagation();
    e.nativeEvent.stopImmediatePropagation();
  };
  return (
    <span className={`menu-box ${className}`} ref={box} onKeyDown={onKey}>
      <Button
        {...(icon ? { icon } : {})}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        {...(text ? {} : { 'aria-label': label })}
        onClick={() => setOpen(!open)}
      >
        {text}
      </Button>
      {open && (
        <div className="menu-list" role="menu" id={id} aria-label={label}>
          {choices.map((c) => (
            <button
              key={c.label}
              type="button"
              role="menuitem"
              disabled={!!c.refused}
              title={c.refused}
              onClick={() => {
                close();
                c.run();
              }}
            >
              {c.label}
            </button>
          ))}
        </div>
      )}
    </span>
  );
}
