import { Dialog } from '../parts/Dialog';
import { Checkbox } from '../parts/Field';
import { currentKeys } from '../parts/keys';
import { setUTC, useUTC } from '../parts/time';

const names: Record<string, string> = { Escape: 'Esc', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', ' ': 'Space' };
const spelled = (keys: string) =>
  (keys.length === 1 ? [keys] : keys.split(/[ +]/)).map((k) => names[k] ?? (k.length === 1 ? k.toUpperCase() : k));

/** The keys of this screen, and how times are shown. */
export function Help({ onClose }: { onClose: () => void }) {
  const utc = useUTC();
  const keys = [
    ...new Map(
      currentKeys()
        .filter((k) => k.does)
        .map((k) => [k.keys, k]),
    ).values(),
  ].reverse();
  return (
    <Dialog title="Keyboard shortcuts of this screen" onClose={onClose}>
      <dl className="kv">
        {keys.map((k) => (
          <div key={k.keys}>
            <dt>{k.does}</dt>
            <dd className="row tight">
              {spelled(k.keys).map((name, i) => (
                <kbd key={i}>{name}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Checkbox label="Show times in UTC" checked={utc} onChange={(e) => setUTC(e.target.checked)} />
      <a className="link" href="/docs/api">
        The API of this server
      </a>
    </Dialog>
  );
}
