-- Entities. ekey is the number of the account and 43 bits of a hash of the id;
-- doc is everything that account and cell do not say; tokens are hashes of what
-- the entity can be found by.
CREATE TABLE entity (
    rid     BIGINT   NOT NULL PRIMARY KEY,
    ekey    BIGINT   NOT NULL,
    created BIGINT   NOT NULL,
    updated BIGINT   NOT NULL,
    doc     BYTEA    NOT NULL,
    tokens  BIGINT[] NOT NULL
);

CREATE INDEX entity_ekey ON entity (ekey);
CREATE INDEX entity_token ON entity USING gin (tokens);

-- Which tokens are frequent decides how a page is read.
ALTER TABLE entity ALTER COLUMN tokens SET STATISTICS 1000;
