-- The call that made the change, of the same message as the actor.
ALTER TABLE stream_reread ADD COLUMN operation TEXT NOT NULL DEFAULT '';
