import type { Overview } from '../../api/desktop';
import { plural, sentence, words } from '../../parts/text';
import { addressOf, kindWords, shortName } from '../components';
import { healthMark, type Status } from '../status';

export interface Problem {
  key: string;
  status: Status;
  title: string;
  detail: string;
  reason: string;
  since: number | undefined;
  to: string;
}

/** What is wrong, by cause, in the order of the server: worst first. */
export const problemsOf = (problems: Overview['problems']): Problem[] =>
  problems.map((p) => ({
    key: `${p.cause.kind} ${p.cause.id}`,
    status: healthMark(p.health),
    title: shortName(p.cause),
    detail: p.count > 1 ? plural(p.count, 'component') : kindWords[p.cause.kind],
    reason: sentence(p.reasons[0] ?? p.components[0]?.reasons[0] ?? words(p.components[0]?.status ?? '')),
    since: p.since,
    to: addressOf(p.cause.kind, p.cause.id),
  }));
