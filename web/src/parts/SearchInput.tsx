import { useEffect, useRef, useState } from 'react';
import { Icon } from './Icon';

interface Props {
  label: string;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
}

/** A search box that waits until typing pauses. `F` focuses the one marked as the filter of a screen. */
export function SearchInput({ label, placeholder, value, onChange }: Props) {
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange(text);
    }, 250);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  return (
    <div className="search">
      <Icon name="search" small />
      <input
        className="input"
        type="search"
        aria-label={label}
        placeholder={placeholder ?? label}
        value={text}
        onChange={(e) => setText(e.target.value)}
        data-filter
      />
    </div>
  );
}
