-- Tokens of the beginnings of the words of names.
DELETE FROM entity_retoken;
INSERT INTO entity_retoken (next)
SELECT 0 WHERE EXISTS (SELECT 1 FROM entity);
