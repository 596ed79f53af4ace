-- The index takes the words that a row has no more, instead of the row. A table that
-- can remove a row by its number keeps a list of all rows, writes all words of a row
-- again when one changes, and merges a page of itself for each row that does.
DROP TABLE entity_token;
CREATE VIRTUAL TABLE entity_token USING fts5 (
    tokens, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
);
INSERT INTO entity_token (entity_token, rank) VALUES ('automerge', 8);
DELETE FROM entity_retoken;
INSERT INTO entity_retoken (next)
SELECT 0 WHERE EXISTS (SELECT 1 FROM entity);
