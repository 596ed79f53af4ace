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

/** The reason of the cause. If all its parts, such as the servers of a farm, have the same reason, that reason is added. */
function reasonOf({ cause, reasons, components }: Overview['problems'][number]): string {
  const own = reasons[0] ?? components[0]?.reasons[0] ?? words(components[0]?.status ?? '');
  const parts = components.filter((c) => c.id !== cause.id).flatMap((c) => c.reasons);
  const common = parts.length > 0 && parts.every((r) => r === parts[0]) ? parts[0] : undefined;
  return sentence(common && common !== own ? `${own}: ${common}` : own);
}

/** What is wrong, by cause, in the order of the server: worst first. */
export const problemsOf = (problems: Overview['problems']): Problem[] =>
  problems.map((p) => ({
    key: `${p.cause.kind} ${p.cause.id}`,
    status: healthMark(p.health),
    title: shortName(p.cause),
    detail: p.count > 1 ? plural(p.count, 'component') : kindWords[p.cause.kind],
    reason: reasonOf(p),
    since: p.since,
    to: addressOf(p.cause.kind, p.cause.id),
  }));
