import { useMemo } from 'react';
import { saveFile } from '../../parts/file';
import { count } from '../../parts/text';

/** How many characters are shown: more would make the page slow. */
const most = 200_000;

/** An answer as JSON. A long one is cut, and can be saved as a whole. */
export function JsonView({ answer }: { answer: unknown }) {
  const text = useMemo(() => JSON.stringify(answer, null, 2), [answer]);
  return (
    <>
      {text.length > most && (
        <p className="region t3">
          The first {count(most)} of {count(text.length)} characters.{' '}
          <button type="button" className="link" onClick={() => saveFile('answer.json', 'application/json', text)}>
            Save all of it
          </button>
        </p>
      )}
      <pre className="json region" tabIndex={0}>
        {text.slice(0, most)}
      </pre>
    </>
  );
}
