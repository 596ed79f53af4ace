-- Substrings of findings, by their trigrams. Two that make the extension at once
-- get in each other's way, and either will do.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
EXCEPTION
    WHEN unique_violation OR duplicate_object THEN NULL;
END
$$;

CREATE INDEX finding_words ON finding USING gin (words public.gin_trgm_ops);
