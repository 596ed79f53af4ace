import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { posture } from '../../api/posture';
import { Button } from '../../parts/Button';
import { copyText } from '../../parts/Copy';
import { Mark } from '../../parts/marks';
import { Answer } from '../../parts/states';

interface Props {
  provider: string;
  script: string;
  accounts: string[];
  title: string;
  /** The script that undoes it. */
  undo?: string;
}

/** The comment at the top of a script says what it does. */
const about = (script: string) => {
  const lines = script.split('\n').slice(1);
  const end = lines.findIndex((l) => !l.startsWith('#'));
  return lines
    .slice(0, end)
    .map((l) => l.replace(/^# ?/, ''))
    .join('\n')
    .trim();
};

/** Commands to copy, what they do, and the script itself. */
export function ScriptBox({ provider, script, accounts, title, undo }: Props) {
  const [whole, setWhole] = useState(false);
  const account = accounts.join(',');
  const query = useQuery({
    queryKey: ['script', provider, script, account],
    queryFn: async () => String(await posture.get('/scripts/{provider}/{script}', { path: { provider, script }, query: { account } })),
    staleTime: Infinity,
  });
  const address = `${location.origin}/scripts/${provider}/${script}${account ? `?account=${account}` : ''}`;
  const fetchIt = `curl -fsS '${address}' -o ${script}`;
  const commands = `${fetchIt}\nVIGIL_API_TOKEN=... bash ${script}`;
  const dry = `${fetchIt}\nVIGIL_API_TOKEN=... bash ${script} --dry-run`;
  return (
    <section className="script-box">
      <div className="region-head">
        <h3>{title}</h3>
      </div>
      <pre className="json" tabIndex={0} aria-label="Commands">
        {commands}
      </pre>
      <div className="row wrap">
        <Button icon="copy" onClick={() => void copyText(commands, 'Commands copied')}>
          Copy
        </Button>
        <Button icon="copy" onClick={() => void copyText(dry, 'Commands copied')}>
          Copy dry run
        </Button>
        <Button aria-expanded={whole} onClick={() => setWhole(!whole)}>
          {whole ? 'Hide the script' : 'Read the script'}
        </Button>
        {undo && (
          <a className="link small" href={`/scripts/${provider}/${undo}?account=${account}`}>
            How to undo it
          </a>
        )}
      </div>
      <Answer query={query} what="the script" rows={3}>
        {(text) => (
          <pre className="json about" tabIndex={0} aria-label={whole ? 'Script' : 'What it does'}>
            {whole ? text : about(text)}
          </pre>
        )}
      </Answer>
    </section>
  );
}

/** A secret that is shown once. */
export function Secret({ label, value }: { label: string; value: string }) {
  return (
    <div className="note warn">
      <Mark name="warn" />
      <div className="grow stack">
        <span>
          <b>{label}</b>, shown this once:
        </span>
        <code className="secret">{value}</code>
      </div>
      <Button icon="copy" onClick={() => void copyText(value, 'Secret copied')}>
        Copy
      </Button>
    </div>
  );
}
