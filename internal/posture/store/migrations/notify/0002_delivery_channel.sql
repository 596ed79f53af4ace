-- To list the newest deliveries of a channel, and to count its dead letters.
CREATE INDEX notify_delivery_channel ON notify_delivery (org, channel, created);
CREATE INDEX notify_delivery_dead ON notify_delivery (org, channel) WHERE state = 'Dead';
