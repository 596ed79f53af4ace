-- Which organisation an external id of AWS roles belongs to. An id has one owner,
-- for good; those that Vigil issued are marked.
CREATE TABLE external_id (
    id      TEXT NOT NULL PRIMARY KEY,
    org     TEXT NOT NULL,
    issued  BOOLEAN NOT NULL,
    created BIGINT NOT NULL
);

CREATE UNIQUE INDEX external_id_issued ON external_id (org) WHERE issued;
