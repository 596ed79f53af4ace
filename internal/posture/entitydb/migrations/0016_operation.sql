-- The call that made the changes of a commit, according to its event; empty if the event did not say.
ALTER TABLE entity_commit ADD COLUMN operation TEXT NOT NULL DEFAULT '';
