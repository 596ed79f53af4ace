import { plural, sentence } from '../../parts/text';
import { everything, type Component, type Components } from '../components';
import { rank, type Status } from '../status';

export interface Problem {
  key: string;
  status: Status;
  title: string;
  detail: string;
  reason: string;
  to: string;
}

/** Problems, worst first. Components of a kind with the same reason are one problem. */
export function problemsOf(c: Components): Problem[] {
  const groups = new Map<string, Component[]>();
  for (const x of everything(c)) {
    if (x.status !== 'error' && x.status !== 'warn') continue;
    const key = `${x.kind} ${x.reasons[0] ?? x.word}`;
    groups.set(key, [...(groups.get(key) ?? []), x]);
  }
  return [...groups].map(([key, all]): Problem => {
    const first = all[0] as Component;
    return {
      key,
      status: first.status,
      title: all.length === 1 ? first.name : plural(all.length, first.kind === 'RDS_SERVER' ? 'RDS server' : 'component'),
      detail: all.length === 1 ? first.detail : `${first.name} and ${all.length - 1} more`,
      reason: sentence(first.reasons[0] ?? first.word),
      to: all.length === 1 ? `/${first.path}/${encodeURIComponent(first.id)}` : `/${first.path}?status=${first.status}`,
    };
  }).sort((a, b) => rank(a.status) - rank(b.status));
}
