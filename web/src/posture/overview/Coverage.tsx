import { Link } from '@tanstack/react-router';
import type { Account, Verdicts } from '../../api/posture';
import { Mark, type MarkName } from '../../parts/marks';
import { count, plural, sentence } from '../../parts/text';
import { dateTime } from '../../parts/time';
import type { UnreadType } from '../unread';

interface Item {
  mark: MarkName;
  title: string;
  text: string;
  action: string;
  to: string;
  search?: Record<string, string>;
}

/** Why the numbers may be incomplete, and what was read. */
export function coverageOf(accounts: Account[], unread: UnreadType[], verdicts?: Verdicts): Item[] {
  const items: Item[] = [];
  for (const a of accounts) {
    const to = `/accounts/${encodeURIComponent(a.cloudAccountId)}`;
    const run = a.lastCollection;
    if (a.accountStatus.value !== 'active') {
      items.push({
        mark: a.accountStatus.value === 'draft' ? 'unknown' : 'error',
        title: `${a.cloudAccountName} cannot be read`,
        text: sentence(a.accountStatus.reason ?? `The account is ${a.accountStatus.value}.`),
        action: 'Fix access',
        to,
      });
      continue;
    }
    if (run?.status === 'Started')
      items.push({
        mark: 'unknown',
        title: `${a.cloudAccountName} is being read`,
        text: `${count(run.progress.done)} of ${count(run.progress.total)} units, ${plural(run.progress.entities, 'entity', 'entities')}.`,
        action: 'Run',
        to,
      });
    const missing = unread.filter((u) => u.cloudAccountId === a.cloudAccountId).map((u) => u.type);
    if (missing.length)
      items.push({
        mark: 'unknown',
        title: `${plural(missing.length, 'type')} of ${a.cloudAccountName} not read`,
        text: `${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ` and ${missing.length - 3} more` : ''}. Their verdicts are unknown.`,
        action: 'Show',
        to,
      });
    if (a.eventStreamStatus.value !== 'connected')
      items.push({
        mark: 'warn',
        title: `${a.cloudAccountName} sends no events`,
        text: 'Its stream is not connected; changes show with the next full read.',
        action: 'Set up',
        to,
        search: { tab: 'stream' },
      });
  }
  const unknown = verdicts?.results.reduce((n, v) => n + v.unknown, 0) ?? 0;
  if (unknown > 0) {
    const types = [...new Set(verdicts?.unread?.map((u) => u.entityType))];
    items.push({
      mark: 'unknown',
      title: `${plural(unknown, 'verdict')} ${unknown === 1 ? 'is' : 'are'} unknown`,
      text: types.length
        ? `${types.slice(0, 2).join(', ')}${types.length > 2 ? ` and ${plural(types.length - 2, 'more type')}` : ''} could not be read.`
        : 'Data that their rules need could not be read.',
      action: 'Show',
      to: '/rules',
      search: { unknown: 'yes' },
    });
  }
  const next = accounts
    .map((a) => a.nextCollectionTime ?? '')
    .filter(Boolean)
    .sort()[0];
  const current = accounts.filter((a) => a.accountStatus.value === 'active' && a.lastCollection?.status.startsWith('Completed'));
  const newest = current
    .map((a) => a.lastCollection?.endTime ?? '')
    .sort()
    .at(-1);
  if (current.length)
    items.push({
      mark: 'ok',
      title: `${count(current.length)} of ${plural(accounts.length, 'account')} ${current.length === 1 ? 'is' : 'are'} current`,
      text: newest ? `Last full read ended ${dateTime(newest)}${next ? `; next ${dateTime(next)}` : ''}.` : 'Everything was read.',
      action: 'Runs',
      to: '/accounts',
    });
  return items;
}

export function Coverage(props: { accounts: Account[]; unread: UnreadType[]; verdicts: Verdicts | undefined }) {
  const items = coverageOf(props.accounts, props.unread, props.verdicts);
  const shown = items.length > 5 ? [...items.slice(0, 4), ...items.slice(-1)] : items;
  return (
    <ul className="attention">
      {shown.map((i) => (
        <li key={i.title}>
          <Mark name={i.mark} />
          <div className="grow">
            <p className="strong">{i.title}</p>
            <p className="small t2">{i.text}</p>
          </div>
          <Link className="link small" to={i.to} search={(i.search ?? {}) as never} aria-label={`${i.action}: ${i.title}`}>
            {i.action}
          </Link>
        </li>
      ))}
      {items.length > shown.length && (
        <li>
          <Link className="link" to="/accounts">
            {items.length - shown.length} more
          </Link>
        </li>
      )}
    </ul>
  );
}
