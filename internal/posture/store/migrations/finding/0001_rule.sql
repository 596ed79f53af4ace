-- What organisations have made of rules and frameworks.

CREATE TABLE rule (
    org     TEXT NOT NULL,
    id      TEXT NOT NULL,
    version BIGINT NOT NULL,
    etag    TEXT NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (org, id)
);

CREATE TABLE rule_change (
    org     TEXT NOT NULL,
    id      TEXT NOT NULL,
    version BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    who     TEXT NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (org, id, version)
);

CREATE TABLE rule_generation (
    org        TEXT NOT NULL PRIMARY KEY,
    generation BIGINT NOT NULL
);

CREATE TABLE framework (
    org    TEXT NOT NULL,
    id     TEXT NOT NULL,
    name   TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (org, id)
);
