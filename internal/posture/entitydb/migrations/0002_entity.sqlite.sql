-- Entities. ekey is the number of the account and 43 bits of a hash of the id;
-- doc is everything that account and cell do not say.
CREATE TABLE entity (
    rid     INTEGER PRIMARY KEY,
    ekey    BIGINT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    doc     BLOB   NOT NULL
);

CREATE INDEX entity_ekey ON entity (ekey);

-- Hashes of what entities can be found by.
CREATE VIRTUAL TABLE entity_token USING fts5 (
    tokens, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
