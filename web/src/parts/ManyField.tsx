import { useId, useState, type KeyboardEvent } from 'react';
import { Icon } from './Icon';
import { composing } from './keys';

interface Props {
  label: string;
  /** What is chosen. */
  values: string[];
  onChange: (values: string[]) => void;
  /** What can be chosen; without it, or with parse, other text can be added too. */
  options?: { value: string; label: string }[];
  /** Converts typed text to a value, or returns why it cannot be added. */
  parse?: (text: string) => { value: string } | { error: string };
  placeholder?: string;
  hint?: string;
  error?: string | undefined;
}

/** Whether an input event is one of typing, not a choice from the list of the browser, which may be reported without a type. */
export const isTyped = (inputType: string | undefined, before: string, after: string): boolean =>
  inputType !== 'insertReplacementText' && (after.length - before.length === 1 || !!inputType?.startsWith('delete'));

/** Several values, each a chip that can be removed. Enter, a comma or leaving the field adds what was typed. */
export function ManyField({ label, values, onChange, options, parse, placeholder, hint, error }: Props) {
  const id = useId();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const labelOf = (value: string) => options?.find((o) => o.value === value)?.label ?? value;
  const add = (typed: string) => {
    const wanted = typed.trim();
    if (wanted === '') return;
    const option = options?.find((o) => o.label === wanted || o.value === wanted);
    const read = option ?? parse?.(wanted) ?? (options ? { error: `“${wanted}” is not an option.` } : { value: wanted });
    if ('error' in read) return setProblem(read.error);
    onChange([...new Set([...values, read.value])]);
    setText('');
    setProblem(undefined);
  };
  const onKey = (e: KeyboardEvent) => {
    if (composing(e.nativeEvent)) return;
    if (e.key === 'Enter' || (e.key === ',' && text.trim() !== '')) {
      e.preventDefault(); // Enter adds a value; it must not submit the form when it is pressed once more
      add(text);
    } else if (e.key === 'Backspace' && text === '') onChange(values.slice(0, -1));
  };
  const shown = problem ?? error;
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {values.length > 0 && (
        <ul className="row tight wrap" aria-label={`${label}, chosen`}>
          {values.map((v) => (
            <li key={v} className="chip">
              <span className="v">{labelOf(v)}</span>
              <button type="button" aria-label={`Remove ${labelOf(v)}`} onClick={() => onChange(values.filter((o) => o !== v))}>
                <Icon name="x" small />
              </button>
            </li>
          ))}
        </ul>
      )}
      <input
        className="input"
        id={id}
        list={options ? `${id}-l` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        value={text}
        aria-invalid={!!shown}
        aria-describedby={shown ? `${id}-e` : hint ? `${id}-h` : undefined}
        onChange={(e) => {
          // A choice from the list is added at once. Text that is typed waits for Enter: "warn" may become "warning".
          const typed = isTyped((e.nativeEvent as InputEvent).inputType, text, e.target.value);
          if (!typed && options?.some((o) => o.label === e.target.value)) add(e.target.value);
          else setText(e.target.value);
        }}
        onKeyDown={onKey}
        onBlur={() => add(text)}
      />
      {options && (
        <datalist id={`${id}-l`}>
          {options
            .filter((o) => !values.includes(o.value))
            .map((o) => (
              <option key={o.value} value={o.label} />
            ))}
        </datalist>
      )}
      {shown && (
        <span className="field-error" id={`${id}-e`} role="alert">
          {shown}
        </span>
      )}
      {hint && (
        <span className="field-hint" id={`${id}-h`}>
          {hint}
        </span>
      )}
    </div>
  );
}
