import { count } from '../../parts/text';

/** Why more findings can be raised today than the view New today lists. */
export const todayTitle =
  'Since 00:00 UTC. A finding counts each time it is raised or resolved, so one finding can count several times. ' +
  'The view New today lists it once, if it is open.';

/** How often findings were raised and resolved today. */
export const Today = ({ raised, resolved }: { raised: number; resolved: number }) => (
  <>
    <span className="c-high">+{count(raised)}</span> raised, <span className="c-pass">−{count(resolved)}</span> resolved today
  </>
);
