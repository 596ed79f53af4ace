import type { Run } from '../../api/posture';
import { Mark } from '../../parts/marks';
import { dateTime } from '../../parts/time';
import { runMark } from './accountMarks';
import type { RunSummary } from './runs';

/** How many runs are shown. */
const shown = 14;

/** The last runs as squares, oldest first. */
export function RunSquares({ runs }: { runs: RunSummary[] }) {
  const last = [...runs].sort((a, b) => a.startTime.localeCompare(b.startTime)).slice(-shown);
  if (last.length === 0) return <span className="t3">no runs yet</span>;
  const labels = last.map((r) => `${dateTime(r.startTime)} ${runMark[r.status].word}`);
  return (
    <span className="run-squares" role="img" aria-label={`Last ${last.length} runs; newest: ${labels.at(-1)}`}>
      {last.map((r, i) => (
        <span key={r.collectionId} className={`b-${runMark[r.status].mark}`} title={labels[i]} />
      ))}
    </span>
  );
}

export const RunWord = ({ run }: { run: Run }) => (
  <span className={`word c-${runMark[run.status].mark}`}>
    <Mark name={runMark[run.status].mark} />
    {runMark[run.status].word}
  </span>
);
