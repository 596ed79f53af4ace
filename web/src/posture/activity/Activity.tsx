import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { posture, type Finding } from '../../api/posture';
import { choiceOf, useAddress, type Search } from '../../frame/address';
import { Page } from '../../frame/Page';
import { Button } from '../../parts/Button';
import { useKeys } from '../../parts/keys';
import { Mark } from '../../parts/marks';
import { Segments, Select } from '../../parts/Segments';
import { Answer, Empty, Skeleton } from '../../parts/states';
import { count, plural, shortType } from '../../parts/text';
import { dateTime, useNow } from '../../parts/time';
import { accountsQuery, buckets } from '../data';
import { barsOf, eventsOf } from './events';
import { Histogram } from './Histogram';
import { Lines } from './Lines';
import { mostFindings, newestFindings } from './read';
import './activity.css';

const hour = 3_600_000;
const ranges = { '1d': '24 hours', '7d': '7 days', '30d': '30 days' } as const;
type Range = keyof typeof ranges;
const kinds = { all: 'All', changes: 'Changes', findings: 'Findings' } as const;
type Kind = keyof typeof kinds;
const lengths: Record<Range, number> = { '1d': 24 * hour, '7d': 168 * hour, '30d': 720 * hour };

/** The time that the address selects: a range that ends now, or from one time to another. */
function spanOf(search: Search, now: number): { from: number; to: number; step: number; range: Range | undefined } {
  const from = Date.parse(search.from ?? '');
  const to = Date.parse(search.to ?? '');
  const given: Range = choiceOf(lengths, search.range, '7d');
  if (Number.isNaN(from)) {
    const end = (Math.floor(now / hour) + 1) * hour;
    return { from: end - lengths[given], to: end, step: lengths[given] > 168 * hour ? 24 * hour : hour, range: given };
  }
  const end = Number.isNaN(to) ? from + lengths[given] : to;
  return { from, to: end, step: end - from > 168 * hour ? 24 * hour : hour, range: undefined };
}

const iso = (at: number) => new Date(at).toISOString();

/** The types of resources that the accounts have, for the filter. */
const useTypes = () =>
  buckets(
    useQuery({
      queryKey: ['entities', 'types'],
      queryFn: () =>
        posture.post('/v1/entities/aggregations-query', {
          body: { aggregations: { type: { fieldName: 'entityType', aggregationType: 'Terms', termsCount: 1000 } } },
        }),
      staleTime: 60_000,
    }).data?.aggregations.type,
  )
    .map((b) => b.value)
    .sort();

/** Names the accounts without events: their changes are seen only after a collection. */
function StreamNote() {
  const silent = (useQuery(accountsQuery).data ?? []).filter((a) => a.eventStreamStatus.value !== 'connected');
  if (silent.length === 0) return null;
  const next = silent
    .map((a) => a.nextCollectionTime)
    .filter((at) => at !== undefined)
    .sort()[0];
  return (
    <p className="note unknown region" role="note">
      <Mark name="unknown" />
      <span>
        {plural(silent.length, 'account')} ({silent.map((a) => a.cloudAccountName).join(', ')}) without events: changes show after the next
        full read
        {next && `, ${dateTime(next)}`}.
      </span>
    </p>
  );
}

/** Says that there are more findings than were read. The API does not filter findings by type, so findings of other types count towards the limit too. */
function CutNote({ what, typed }: { what: string[]; typed: boolean }) {
  if (what.length === 0) return null;
  return (
    <p className="note unknown region" role="note">
      <Mark name="unknown" />
      <span>
        Findings {what.join(' and ')}: only the newest {count(mostFindings)}
        {typed && ' of all types together'} were read, older ones are neither counted nor listed. Choose a shorter range or an account.
      </span>
    </p>
  );
}

/** What changed in the clouds, and which change raised a finding. */
export default function Activity() {
  const { search, change } = useAddress();
  const accounts = useQuery(accountsQuery).data ?? [];
  const types = useTypes();
  const now = useNow();
  const { from, to, step, range } = spanOf(search, now);
  const kind: Kind = search.show === 'changes' || search.show === 'findings' ? search.show : 'all';
  const filters = {
    from: iso(from),
    to: iso(to),
    ...(search.account ? { cloudAccountIds: [search.account] } : {}),
    ...(search.type ? { entityTypes: [search.type] } : {}),
  };
  const feed = useInfiniteQuery({
    queryKey: ['changes', filters, step],
    queryFn: ({ pageParam, signal }) =>
      posture.post('/v1/entities/changes-query', {
        body: { filters, countBy: step === hour ? 'Hour' : 'Day', paginationInfo: { pageSize: 200, continuationToken: pageParam } },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.continuationToken ?? null,
    placeholderData: keepPreviousData,
  });
  const of = search.account ? { cloudAccountIds: [search.account] } : {};
  const raised = useQuery(newestFindings({ ...of, createdFrom: iso(from), createdTo: iso(to) }, 'creationTime'));
  // The API does not sort by the time of resolution. The last update of a resolved finding is nearly always its resolution.
  const resolved = useQuery(newestFindings({ ...of, resolvedFrom: iso(from), resolvedTo: iso(to) }, 'lastUpdateTime'));
  const shownQueries = kind === 'changes' ? [] : [raised, resolved];
  const failed = shownQueries.find((q) => q.isError || (!q.data && q.failureReason)); // the reason is set after a failed attempt, before the next
  const isRead = shownQueries.every((q) => q.data);
  const cut = kind === 'changes' ? [] : [...(raised.data?.cut ? ['raised'] : []), ...(resolved.data?.cut ? ['resolved'] : [])];
  const findings = useMemo(() => {
    const all = [...(raised.data?.results ?? []), ...(resolved.data?.results ?? [])];
    const ofType = all.filter((f) => !search.type || f.objectType === search.type);
    return [...new Map(ofType.map((f): [string, Finding] => [f.id, f])).values()];
  }, [raised.data, resolved.data, search.type]);
  const move = (by: number) => {
    const shift = by * (to - from);
    change({ from: iso(from + shift), to: iso(to + shift), range: undefined });
  };
  useKeys([
    { keys: 'ArrowLeft', does: 'Earlier', run: () => move(-1) },
    { keys: 'ArrowRight', does: 'Later', run: () => move(1) },
  ]);
  return (
    <Page title="Activity" beside={<span className="t3 wide">changes of resources, findings raised and resolved</span>}>
      <div className="toolbar">
        <Segments<Kind>
          label="What"
          value={kind}
          onChange={(k) => change({ show: k === 'all' ? undefined : k })}
          options={(Object.keys(kinds) as Kind[]).map((k) => ({ value: k, label: kinds[k] }))}
        />
        <Select
          label="Account"
          value={search.account ?? ''}
          onChange={(a) => change({ account: a || undefined })}
          options={[{ value: '', label: 'All accounts' }, ...accounts.map((a) => ({ value: a.cloudAccountId, label: a.cloudAccountName }))]}
        />
        <Select
          label="Type"
          value={search.type ?? ''}
          onChange={(t) => change({ type: t || undefined })}
          options={[{ value: '', label: 'All types' }, ...types.map((t) => ({ value: t, label: shortType(t) }))]}
        />
        <span className="row tight end">
          <Button look="quiet" icon="left" aria-label="Earlier" title={`Until ${dateTime(from)}`} onClick={() => move(-1)} />
          <Segments<Range | 'other'>
            label="Range"
            value={range ?? 'other'}
            onChange={(r) => r !== 'other' && change({ range: r === '7d' ? undefined : r, from: undefined, to: undefined })}
            options={(Object.keys(ranges) as Range[]).map((r) => ({ value: r, label: ranges[r] }))}
          />
          <Button look="quiet" icon="right" aria-label="Later" disabled={to > now} onClick={() => move(1)} />
        </span>
      </div>
      <StreamNote />
      <CutNote what={cut} typed={!!search.type} />
      {failed && (
        <Answer query={failed} what="the findings" padded>
          {() => null}
        </Answer>
      )}
      <Answer query={feed} what="the activity" padded>
        {({ pages }) => {
          const changes = kind === 'findings' ? [] : pages.flatMap((p) => p.results);
          const more = kind !== 'findings' && feed.hasNextPage;
          const events = eventsOf(changes, kind === 'changes' ? [] : findings, from, more).filter((e) => Date.parse(e.at) < to);
          const counts = kind === 'findings' ? [] : (pages[0]?.counts ?? []);
          return (
            <>
              <Histogram
                bars={barsOf({ from, to, step }, counts, kind === 'changes' ? [] : findings)}
                step={step}
                onChoose={(start, end) => change({ from: iso(start), to: iso(end), range: undefined }, { push: true })}
              />
              {events.length > 0 ? (
                <Lines events={events} />
              ) : !isRead ? (
                !failed && (
                  <div className="region">
                    <Skeleton />
                  </div>
                )
              ) : (
                <Empty
                  padded
                  title={
                    cut.length > 0
                      ? 'No resource changed, and no finding that was read matches'
                      : `Nothing happened between ${dateTime(from)} and ${dateTime(Math.min(to, now))}`
                  }
                  action={<Button onClick={() => move(-1)}>Look earlier</Button>}
                >
                  {cut.length > 0
                    ? 'Older findings can match.'
                    : `No resource changed, and no finding was raised or resolved${search.account || search.type ? ' with these filters' : ''}.`}
                </Empty>
              )}
              {more && (
                <div className="region">
                  <Button disabled={feed.isFetchingNextPage} onClick={() => void feed.fetchNextPage()}>
                    Show older changes
                  </Button>
                </div>
              )}
            </>
          );
        }}
      </Answer>
    </Page>
  );
}
