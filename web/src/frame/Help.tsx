import { Fragment } from 'react';
import { Dialog } from '../parts/Dialog';
import { Checkbox } from '../parts/Field';
import { currentKeys, shortcuts } from '../parts/keys';
import { setUTC, useUTC } from '../parts/time';

const names: Record<string, string> = { Escape: 'Esc', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', ' ': 'Space' };
const spelled = (keys: string) =>
  (keys.length === 1 ? [keys] : keys.split(/[ +]/)).map((k) => names[k] ?? (k.length === 1 ? k.toUpperCase() : k));

/** The keys of this screen, and how times are shown. */
export function Help({ onClose }: { onClose: () => void }) {
  const utc = useUTC();
  return (
    <Dialog title="Keyboard shortcuts of this screen" onClose={onClose}>
      <dl className="kv">
        {[...shortcuts(currentKeys())].map(([does, ways]) => (
          <div key={does}>
            <dt>{does}</dt>
            <dd className="row tight">
              {ways.map((keys, i) => (
                <Fragment key={keys}>
                  {i > 0 && 'or'}
                  {spelled(keys).map((name, j) => (
                    <kbd key={j}>{name}</kbd>
                  ))}
                </Fragment>
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
