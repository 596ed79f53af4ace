import { useEffect, useRef, type ReactNode } from 'react';
import { Button } from './Button';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  className?: string;
  bare?: boolean;
}

/** The browser's modal dialog: keeps focus inside, closes with Esc and returns focus. */
export function Dialog({ title, onClose, children, className = '', bare }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    // React's autoFocus comes too early: nothing in a dialog can be focused before it is open, and showModal takes the first button.
    element.current?.querySelector<HTMLElement>('.dialog-body :is(input, textarea, select):not(:disabled)')?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={`dialog ${className}`}
      aria-label={title}
      onCancel={(e) => {
        e.preventDefault();
        onClose();
      }}
      onClick={(e) => e.target === element.current && onClose()}
    >
      {bare ? (
        children
      ) : (
        <>
          <header>
            <h2>{title}</h2>
            <Button look="quiet" icon="x" className="end" aria-label="Close" onClick={onClose} />
          </header>
          <div className="dialog-body">{children}</div>
        </>
      )}
    </dialog>
  );
}
