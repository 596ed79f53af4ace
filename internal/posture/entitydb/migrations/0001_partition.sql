-- What is kept of the entities of accounts beside their rows.
--
-- An account has a number (acct), its entities are kept in cells of one type,
-- scope and region, and an entity has a number within its cell. Together they
-- are its row id, rid: 20 bits acct, 15 bits cell, 28 bits entity. So the rows
-- of an account are one range, those of a cell are one range, and neither
-- account, type nor region are repeated in every row. Numbers are not used
-- twice.

CREATE TABLE entity_partition (
    acct       BIGINT NOT NULL PRIMARY KEY,
    org        TEXT   NOT NULL,
    account    TEXT   NOT NULL,
    provider   TEXT   NOT NULL,
    generation BIGINT NOT NULL, -- grows with every commit that changes entities
    cells      BIGINT NOT NULL, -- that were ever made
    UNIQUE (org, account)
);

CREATE TABLE entity_cell (
    id      BIGINT NOT NULL PRIMARY KEY, -- rid >> 28
    acct    BIGINT NOT NULL,
    org     TEXT   NOT NULL,
    type    TEXT   NOT NULL,
    scope   TEXT   NOT NULL, -- region of the unit that reads it
    region  TEXT   NOT NULL, -- of the entities
    made    BIGINT NOT NULL, -- entities that ever were in it
    count   BIGINT NOT NULL, -- entities that are in it
    version BIGINT NOT NULL, -- generation of its last change
    UNIQUE (acct, type, scope, region)
);

CREATE INDEX entity_cell_org ON entity_cell (org, id);
CREATE INDEX entity_cell_type ON entity_cell (org, type, id);
CREATE INDEX entity_cell_region ON entity_cell (org, region, id);

-- The sum of the cells of all accounts of an organisation.
CREATE TABLE entity_tally (
    org    TEXT   NOT NULL,
    type   TEXT   NOT NULL,
    region TEXT   NOT NULL,
    count  BIGINT NOT NULL,
    PRIMARY KEY (org, type, region)
);

-- Hashes of id and contents of up to 64 neighbouring entities, so that a
-- collection is compared with what is known without reading it.
CREATE TABLE entity_ledger (
    id      BIGINT NOT NULL PRIMARY KEY, -- rid >> 6
    entries BLOB   NOT NULL
);

-- Which entities each generation of an account changed.
CREATE TABLE entity_delta (
    acct       BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    changed    BLOB   NOT NULL,
    gone       BLOB   NOT NULL,
    PRIMARY KEY (acct, generation)
);

CREATE TABLE entity_snapshot (
    acct       BIGINT NOT NULL PRIMARY KEY,
    generation BIGINT NOT NULL,
    data       BLOB   NOT NULL
);

CREATE TABLE entity_coverage (
    acct       BIGINT NOT NULL,
    type       TEXT   NOT NULL,
    scope      TEXT   NOT NULL,
    succeeded  BIGINT NOT NULL,
    failed     BIGINT NOT NULL,
    why        TEXT   NOT NULL,
    generation BIGINT NOT NULL,
    PRIMARY KEY (acct, type, scope)
);

-- What happened to entities. That one was added is not written down: it follows
-- from what it is now and what happened since. Of one that is gone the body is
-- what it was, otherwise what changed.
CREATE TABLE entity_change (
    ekey       BIGINT  NOT NULL,
    generation BIGINT  NOT NULL,
    rid        BIGINT  NOT NULL,
    at         BIGINT  NOT NULL,
    gone       BOOLEAN NOT NULL,
    created    BIGINT  NOT NULL, -- of one that is gone: when it was first seen
    body       BLOB    NOT NULL,
    PRIMARY KEY (ekey, generation, rid)
);

CREATE INDEX entity_change_gone ON entity_change (at) WHERE gone;
