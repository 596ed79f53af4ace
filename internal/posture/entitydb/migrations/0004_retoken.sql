-- How far the tokens of entities are written anew, since what they are made of
-- has changed: empty when there is nothing to do.
CREATE TABLE entity_retoken (
    next BIGINT NOT NULL -- rid
);

INSERT INTO entity_retoken (next)
SELECT 0 WHERE EXISTS (SELECT 1 FROM entity);
