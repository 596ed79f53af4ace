import { useQueryClient } from '@tanstack/react-query';
import { useConnection, tryNow } from '../api/connection';
import { Button } from '../parts/Button';
import { Mark } from '../parts/marks';
import { clockTime, span, useNow, useUTC } from '../parts/time';
import { useFrame } from './context';
import { paceText, usePulse } from './pulse';

/** The age of the data on the screen. */
export function Freshness() {
  const { lostSince } = useConnection();
  const { server } = useFrame();
  const now = useNow(1000);
  const pulse = usePulse();
  useUTC(); // renders again when the user switches between local time and UTC
  if (lostSince !== undefined) {
    return (
      <span className="fresh late">
        <Mark name="unknown" />
        <span>{span(now - lostSince)} old</span>
      </span>
    );
  }
  const [text, more] =
    server === 'desktop'
      ? [`Updated ${span(now - pulse.updatedAt)} ago`, paceText(pulse)]
      : ['Live', pulse.changedAt ? ` · last change ${clockTime(pulse.changedAt)}` : ''];
  return (
    <span className="fresh">
      <Mark name="ok" />
      <span>
        {text}
        <span className="roomy">{more}</span>
      </span>
    </span>
  );
}

/** Says that the server cannot be reached. The screen keeps the last data. */
export function StaleBanner() {
  const { lostSince, nextTry } = useConnection();
  const now = useNow(1000);
  const client = useQueryClient();
  if (lostSince === undefined) return null;
  const again = async () => {
    await tryNow();
    await client.invalidateQueries();
  };
  return (
    <div className="banner" role="status">
      <Mark name="unknown" />
      <span className="grow">
        <b>Not reached since {clockTime(lostSince)}.</b> You see what was known then. Next try in{' '}
        {Math.max(0, Math.ceil((nextTry - now) / 1000))} s.
      </span>
      <Button look="quiet" onClick={() => void again()}>
        Try now
      </Button>
    </div>
  );
}
