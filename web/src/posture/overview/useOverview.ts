import { useQuery } from '@tanstack/react-query';
import { posture, type FindingFilters, type Trends } from '../../api/posture';
import { findingsQuery, open as openFilter } from '../data';

export type Range = '30d' | '13w' | '12m';
export const ranges: Record<Range, { label: string; interval: 'day' | 'week' | 'month' }> = {
  '30d': { label: '30 days', interval: 'day' },
  '13w': { label: '13 weeks', interval: 'week' },
  '12m': { label: '12 months', interval: 'month' },
};

const scope = (account: string | undefined): FindingFilters => (account ? { cloudAccountIds: [account] } : {});

/** Open findings by level, rule and account, with the riskiest first. */
export const useOpenFindings = (account: string | undefined) =>
  useQuery(
    findingsQuery({
      filters: { ...openFilter, ...scope(account) },
      paginationInfo: { pageSize: 100 },
      aggregations: {
        level: { fieldName: 'level' },
        rule: { fieldName: 'ruleId', termsCount: 9 },
        account: { fieldName: 'cloudAccountId', termsCount: 500, subAggregations: { level: { fieldName: 'level' } } },
        risk: { fieldName: 'riskScore', termsCount: 101 }, // all scores, from 0 to 100
      },
    }),
  );

/** The levels of findings, as the API names them and as marks are named. */
export const levels = [
  { level: 'Low', name: 'low' },
  { level: 'Medium', name: 'medium' },
  { level: 'High', name: 'high' },
] as const;

type LevelName = (typeof levels)[number]['name'];

export interface Series {
  times: string[];
  levels: { name: LevelName; open: number[] }[];
  /** Number of times that findings were raised; a finding that is raised again counts again. */
  raised: number[];
  resolved: number[];
}

const values = (trend: Trends['results']['Open'] | undefined, times: string[]) => times.map((t) => trend?.buckets[t]?.count ?? 0);

/** Open findings over time, by level, and how often findings were raised and resolved. */
export function useTrend(range: Range, account: string | undefined) {
  const interval = ranges[range].interval;
  const filters = scope(account);
  const query = useQuery({
    queryKey: ['findings', 'trend', interval, filters],
    queryFn: () => posture.post('/v2/findings/trends-query', { body: { interval, filters, groupBy: 'level' } }),
  });
  const times = Object.keys(query.data?.results.Open.buckets ?? {}).sort();
  const series: Series | undefined = query.data && {
    times,
    levels: levels.map(({ level, name }) => ({ name, open: values(query.data.groups?.[level]?.Open, times) })),
    raised: values(query.data.results.New, times),
    resolved: values(query.data.results.Resolved, times),
  };
  return { query, series };
}

/** How many verdicts are unknown, and what was not read. */
export const useVerdicts = (account: string | undefined) =>
  useQuery({
    queryKey: ['verdicts', account ?? ''],
    queryFn: () =>
      posture.post('/v1/rules/verdicts-query', { body: { filters: account ? { cloudAccountIds: [account] } : {}, includeUnread: true } }),
  });

/** How the number of open findings of a level changed over the last seven days. The steps of the series must be days. */
export function weekChange(series: Series | undefined, level: LevelName): number | undefined {
  const counts = series?.levels.find((l) => l.name === level)?.open;
  if (!counts || counts.length < 8) return undefined;
  return (counts.at(-1) ?? 0) - (counts.at(-8) ?? 0);
}
