-- The number of the last judgement of an account: one that builds on another must
-- know that it is still the last.
ALTER TABLE judged ADD COLUMN serial BIGINT NOT NULL DEFAULT 0;
