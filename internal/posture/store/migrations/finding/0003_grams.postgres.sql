-- Substrings of findings, by their grams: see finding_gram.go. They have a table of
-- their own, so that a finding can change without being indexed again.
CREATE TABLE finding_gram (
    n     BIGINT NOT NULL PRIMARY KEY,
    grams TSVECTOR NOT NULL
);
CREATE INDEX finding_gram_grams ON finding_gram USING gin (grams);
