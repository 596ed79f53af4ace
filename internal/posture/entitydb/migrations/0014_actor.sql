-- Who made the changes of a commit that an event caused; empty if the event did not say.
ALTER TABLE entity_commit ADD COLUMN actor TEXT NOT NULL DEFAULT '';
