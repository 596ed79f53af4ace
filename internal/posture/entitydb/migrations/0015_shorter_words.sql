-- Tokens of beginnings of at most 6 characters of the words of names, not 8.
DELETE FROM entity_retoken;
INSERT INTO entity_retoken (next)
SELECT 0 WHERE EXISTS (SELECT 1 FROM entity);
