import { queryOptions } from '@tanstack/react-query';
import { posture } from '../../api/posture';

/** How often the accounts of the organisation are collected. */
export interface Plan {
  everyHours: number;
  paused?: boolean;
}

export const planQuery = queryOptions({
  queryKey: ['accounts', 'plan'],
  queryFn: (): Promise<Plan> => posture.get('/v1/collection-plan'),
});

/** The intervals to choose from, in hours, with the one that is set now. */
export const intervals = (current: number) => [...new Set([1, 2, 3, 6, 12, 24, 48, 168, current])].sort((a, b) => a - b);

export const every = (hours: number) =>
  hours === 1 ? 'Every hour' : hours % 24 === 0 && hours > 24 ? `Every ${hours / 24} days` : `Every ${hours} hours`;

export const inWords = (plan: Plan) => (plan.paused ? 'paused' : every(plan.everyHours).toLowerCase());
