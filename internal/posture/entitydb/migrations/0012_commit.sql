-- Which entities each commit changed, for the change feed of an organisation. The counts
-- are of all changes; changes lists at most a thousand. What the first collection of a
-- scope finds is no change.
CREATE TABLE entity_commit (
    org        TEXT    NOT NULL,
    at         BIGINT  NOT NULL,
    account_no BIGINT  NOT NULL,
    generation BIGINT  NOT NULL,
    type       TEXT    NOT NULL,
    event      BOOLEAN NOT NULL, -- an event caused it, not a collection
    added      BIGINT  NOT NULL,
    updated    BIGINT  NOT NULL,
    removed    BIGINT  NOT NULL,
    changes    BLOB    NOT NULL,
    PRIMARY KEY (org, at, account_no, generation)
);

CREATE INDEX entity_commit_account ON entity_commit (account_no, at);
CREATE INDEX entity_commit_at ON entity_commit (at);
