-- Words of tokens are shorter.
DELETE FROM entity_retoken;
INSERT INTO entity_retoken (next)
SELECT 0 WHERE EXISTS (SELECT 1 FROM entity);
