-- The traceparent of the message that named the target, empty if it is not traced.
ALTER TABLE stream_reread ADD COLUMN trace TEXT NOT NULL DEFAULT '';
