import { queryOptions } from '@tanstack/react-query';
import { posture, type NotificationDelivery } from '../../api/posture';

// The server reports no change when a message is sent, so messages are polled.
const refetchInterval = 10_000;

export const channelsQuery = queryOptions({
  queryKey: ['notifications', 'channels'],
  queryFn: async () => (await posture.get('/v1/notification-channels')).results,
  staleTime: 5_000,
});

export const notificationRulesQuery = queryOptions({
  queryKey: ['notifications', 'rules'],
  queryFn: async () => (await posture.get('/v1/notification-rules')).results,
});

/** The newest 200 messages, of one state or of all, and to one channel or to all. */
export const deliveriesQuery = (state?: NotificationDelivery['state'], channelId?: string) =>
  queryOptions({
    queryKey: ['notifications', 'deliveries', state ?? '', channelId ?? ''],
    queryFn: () => posture.get('/v1/notification-deliveries', { query: { ...(state && { state }), ...(channelId && { channelId }) } }),
    refetchInterval,
  });
