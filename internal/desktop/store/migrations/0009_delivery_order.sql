-- Notices with the same queue are delivered in the order in which they expire. Those of
-- older versions have none.
ALTER TABLE desktop_delivery ADD COLUMN queue TEXT NOT NULL DEFAULT '';
CREATE INDEX desktop_delivery_queue ON desktop_delivery (queue, expire_at);
