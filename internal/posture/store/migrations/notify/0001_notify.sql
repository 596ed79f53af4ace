-- Receivers of notifications. failures counts attempts since the last success;
-- nothing is sent to a channel before resume_at.
CREATE TABLE notify_channel (
    org       TEXT NOT NULL,
    id        TEXT NOT NULL,
    name      TEXT NOT NULL,
    enabled   BOOLEAN NOT NULL,
    record    TEXT NOT NULL,
    secrets   BLOB NOT NULL,
    failures  BIGINT NOT NULL,
    resume_at BIGINT NOT NULL,
    PRIMARY KEY (org, id)
);

CREATE TABLE notify_rule (
    org     TEXT NOT NULL,
    id      TEXT NOT NULL,
    name    TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (org, id)
);

-- Events that were not made into messages yet, in the order of their ids.
CREATE TABLE notify_outbox (
    org   TEXT NOT NULL,
    id    TEXT NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (org, id)
);

-- Messages to channels: waiting, delivered, or dead letters.
CREATE TABLE notify_delivery (
    org      TEXT NOT NULL,
    id       TEXT NOT NULL,
    channel  TEXT NOT NULL,
    state    TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    created  BIGINT NOT NULL,
    give_up  BIGINT NOT NULL,
    ended    BIGINT NOT NULL,
    events   BIGINT NOT NULL,
    title    TEXT NOT NULL,
    error    TEXT NOT NULL,
    message  TEXT NOT NULL,
    PRIMARY KEY (org, id)
);

CREATE INDEX notify_delivery_waiting ON notify_delivery (org, channel, attempts, created) WHERE state = 'Waiting';
CREATE INDEX notify_delivery_ended ON notify_delivery (org, channel, ended) WHERE ended <> 0;
CREATE INDEX notify_delivery_newest ON notify_delivery (org, created);

-- Up to when the ends of suppressions were written to the outbox.
CREATE TABLE notify_suppression (
    one   BIGINT NOT NULL PRIMARY KEY,
    until BIGINT NOT NULL
);
