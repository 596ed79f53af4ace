-- How the events of accounts reach us, which messages were seen, and what is to
-- be read because of them. Times are milliseconds since 1970, 0 for never.

CREATE TABLE stream (
    org        TEXT    NOT NULL,
    account    TEXT    NOT NULL,
    handle     TEXT    NOT NULL UNIQUE,
    secret     BLOB    NOT NULL UNIQUE, -- a hash
    created    BIGINT  NOT NULL,
    rotated    BIGINT  NOT NULL,
    last_event BIGINT  NOT NULL,
    last_beat  BIGINT  NOT NULL,
    accepted   BIGINT  NOT NULL,
    duplicates BIGINT  NOT NULL,
    unmapped   BIGINT  NOT NULL,
    busy       BOOLEAN NOT NULL, -- a job that does the account's work is in the queue
    PRIMARY KEY (org, account),
    FOREIGN KEY (org, account) REFERENCES account (org, id) ON DELETE CASCADE
);

CREATE TABLE stream_seen (
    org     TEXT   NOT NULL,
    account TEXT   NOT NULL,
    id      BLOB   NOT NULL, -- hash of the message's id
    at      BIGINT NOT NULL,
    PRIMARY KEY (org, account, id),
    FOREIGN KEY (org, account) REFERENCES stream (org, account) ON DELETE CASCADE
);

CREATE INDEX stream_seen_at ON stream_seen (at);

CREATE TABLE stream_reread (
    org     TEXT    NOT NULL,
    account TEXT    NOT NULL,
    type    TEXT    NOT NULL,
    region  TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    version BIGINT  NOT NULL,
    depth   BIGINT  NOT NULL,
    tries   BIGINT  NOT NULL,
    again   BOOLEAN NOT NULL,
    since   BIGINT  NOT NULL,
    due     BIGINT  NOT NULL,
    PRIMARY KEY (org, account, type, region, name),
    FOREIGN KEY (org, account) REFERENCES stream (org, account) ON DELETE CASCADE
);

CREATE INDEX stream_reread_due ON stream_reread (due);
