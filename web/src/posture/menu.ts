import { useQuery } from '@tanstack/react-query';
import { posture } from '../api/posture';
import { allowsScope, sessionQuery } from '../api/session';
import type { MenuGroup } from '../frame/Navigation';
import { useServerPulse } from './pulse';
import { hasProblem } from './accounts/accountMarks';
import { accountsQuery, findingsQuery, frameworksQuery, open, ruleCountQuery } from './data';
import { channelsQuery } from './notifications/data';

/** The navigation with its counts. */
export function useMenu(): MenuGroup[] {
  useServerPulse();
  const session = useQuery(sessionQuery).data;
  const findings = useQuery(findingsQuery({ filters: open, paginationInfo: { pageSize: 1 } })).data?.totalCount;
  const entities = useQuery({
    queryKey: ['entities', 'count'],
    queryFn: async () => (await posture.post('/v1/entities/query', { body: { paginationInfo: { pageSize: 1 } } })).totalCount,
    staleTime: 60_000,
  }).data;
  const rules = useQuery(ruleCountQuery).data;
  const frameworks = useQuery(frameworksQuery).data?.length;
  const accountsWithProblem = useQuery(accountsQuery).data?.filter(hasProblem).length;
  const failingChannels = useQuery({
    ...channelsQuery,
    staleTime: 60_000,
    enabled: !!session && !session.limited && allowsScope(session, 'administration'),
  }).data?.filter((c) => c.enabled && c.consecutiveFailures > 0).length;
  return [
    {
      items: [
        { to: '/overview', icon: 'overview', label: 'Overview' },
        { to: '/findings', icon: 'findings', label: 'Findings', count: findings },
      ],
    },
    {
      title: 'Look',
      items: [
        { to: '/inventory', also: '/resource', icon: 'inventory', label: 'Inventory', count: entities },
        { to: '/explore', icon: 'explore', label: 'Explore' },
        { to: '/activity', icon: 'activity', label: 'Activity' },
      ],
    },
    {
      title: 'Decide',
      items: [
        { to: '/rules', icon: 'rules', label: 'Rules', count: rules },
        { to: '/mute-rules', icon: 'mute', label: 'Mute rules' },
        { to: '/compliance', icon: 'compliance', label: 'Compliance', count: frameworks },
      ],
    },
    {
      title: 'Run',
      items: [
        { to: '/accounts', icon: 'accounts', label: 'Accounts', count: accountsWithProblem, bad: true },
        { to: '/notifications', icon: 'bell', label: 'Notifications', count: failingChannels, bad: true },
        { to: '/admin', icon: 'admin', label: 'Admin' },
      ],
    },
  ];
}
