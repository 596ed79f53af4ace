import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState, type KeyboardEvent } from 'react';
import { Dialog } from '../parts/Dialog';
import { failureText } from '../parts/failure';
import { Icon, type IconName } from '../parts/Icon';
import { composing } from '../parts/keys';
import { plural } from '../parts/text';

/** A place to jump to. */
export interface Target {
  group: string;
  icon: IconName;
  label: string;
  detail?: string;
  to?: string;
  search?: Record<string, string>;
  run?: () => void;
}

/** What a search found. Each kind of target has a limit. */
export interface Found {
  targets: Target[];
  /** More targets match than the limits permit. */
  more: boolean;
  /** Sentences that say which kinds of targets were not searched, and why. */
  unsearched?: string[];
}

interface Props {
  /** Targets that are known without asking: screens and actions. */
  fixed: Target[];
  /** Says what can be found. */
  hint: string;
  /** Asks the server for targets that match. */
  find: (text: string) => Promise<Found>;
  onClose: () => void;
}

/** How many targets are shown. */
const most = 40;

/** A shorter text is not sent to the server. */
const minLength = 2;

function matches(target: Target, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/);
  const where = `${target.label} ${target.detail ?? ''}`.toLowerCase();
  return words.every((word) => where.includes(word));
}

/** Says below the targets what was found; undefined if all that matches is shown. */
export function outcomeText(
  asked: string,
  shown: number,
  more: boolean,
  searching: boolean,
  unsearched: string[] = [],
): string | undefined {
  if (shown === 0 && searching) return 'Searching…';
  if (shown === 0 && asked.length < minLength) return 'Type more of the name.';
  const sentences = [...unsearched];
  if (shown > 0 && more)
    sentences.unshift(`Only ${plural(shown, 'match is', 'matches are')} shown. Type more of the name to find the others.`);
  // The server may stop a search by name at its limit before it has found a match.
  if (shown === 0 && more) sentences.unshift('Nothing was found, but the search did not reach the end. Type more of the name.');
  if (shown === 0 && !more) sentences.unshift(unsearched.length > 0 ? 'Nothing was found.' : 'Nothing has this name.');
  return sentences.join(' ') || undefined;
}

/** A dialog that finds screens, actions and objects by their names, and opens them. */
export function JumpBox({ fixed, hint, find, onClose }: Props) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const asked = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ['jump', asked],
    queryFn: () => find(asked),
    enabled: asked.length >= minLength,
    staleTime: 60_000,
    placeholderData: (before) => before,
  });
  const navigate = useNavigate();
  const answer = asked.length >= minLength ? found.data : undefined;
  const all = [...fixed.filter((t) => matches(t, text)), ...(answer?.targets ?? [])];
  const targets = all.slice(0, most);
  const more = !!answer?.more || all.length > most;
  const outcome = found.isError ? undefined : outcomeText(asked, targets.length, more, found.isFetching, answer?.unsearched);
  const current = Math.max(0, Math.min(chosen, targets.length - 1));

  const choose = (index: number) => {
    setChosen(index);
    document.getElementById(`jump-${index}`)?.scrollIntoView({ block: 'nearest' });
  };
  const go = (target: Target | undefined) => {
    if (!target) return;
    onClose();
    if (target.run) target.run();
    else void navigate({ to: target.to, search: target.search ?? {} } as never);
  };
  const onKey = (event: KeyboardEvent) => {
    if (composing(event.nativeEvent)) return;
    if (event.key === 'ArrowDown') choose(Math.min(current + 1, targets.length - 1));
    else if (event.key === 'ArrowUp') choose(Math.max(current - 1, 0));
    else if (event.key === 'Enter') go(targets[current]);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog title="Search or jump to" className="jumpbox" bare onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="jump-list"
        aria-activedescendant={targets.length ? `jump-${current}` : undefined}
        aria-label="Search or jump to"
        placeholder={hint}
        value={text}
        autoFocus
        onKeyDown={onKey}
        onChange={(e) => {
          setText(e.target.value);
          choose(0);
        }}
      />
      <div className="jump-list" role="listbox" id="jump-list" aria-label="Targets">
        {targets.map((t, i) => (
          <div
            key={`${t.group}${t.label}${t.detail ?? ''}${t.to ?? ''}`}
            id={`jump-${i}`}
            role="option"
            aria-selected={i === current}
            onClick={() => go(t)}
            // When the list scrolls below the pointer, some browsers report a move of zero.
            onMouseMove={(e) => (e.movementX || e.movementY) && setChosen(i)}
          >
            <Icon name={t.icon} />
            <span className="cut">{t.label}</span>
            <span className="small t3 end cut">{t.detail ?? t.group}</span>
          </div>
        ))}
      </div>
      {found.isError && (
        <p className="region t3" role="alert">
          The search failed. {failureText(found.error)}
        </p>
      )}
      {/* Always mounted: many screen readers announce only changes within a status that is there already. */}
      <p className={outcome && 'region t3'} role="status">
        {outcome}
      </p>
    </Dialog>
  );
}
