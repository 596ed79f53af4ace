-- Who made the change, according to the last message that named anybody.
ALTER TABLE stream_reread ADD COLUMN actor TEXT NOT NULL DEFAULT '';
