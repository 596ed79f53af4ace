-- Findings. digest tells whether anything worth saving has changed; words is
-- what a substring is looked for in, in lower case.

CREATE TABLE finding (
    n          BIGINT NOT NULL PRIMARY KEY,
    org        TEXT NOT NULL,
    id         TEXT NOT NULL,
    rule       TEXT NOT NULL,
    account    TEXT NOT NULL,
    provider   TEXT NOT NULL,
    object     TEXT NOT NULL,
    xid        TEXT NOT NULL,
    name       TEXT NOT NULL,
    service    TEXT NOT NULL,
    region     TEXT NOT NULL,
    level      TEXT NOT NULL,
    risk       BIGINT NOT NULL,
    parts      TEXT NOT NULL,
    status     TEXT NOT NULL,
    tags       TEXT,
    put_aside  TEXT,
    aside_till BIGINT NOT NULL,
    created    BIGINT NOT NULL,
    updated    BIGINT NOT NULL,
    resolved   BIGINT NOT NULL,
    digest     BIGINT NOT NULL,
    words      TEXT NOT NULL
);

CREATE UNIQUE INDEX finding_id ON finding (org, id);
CREATE INDEX finding_risk ON finding (org, risk DESC, id);
CREATE INDEX finding_account ON finding (org, account, rule, status);
CREATE INDEX finding_rule ON finding (org, rule, status, risk DESC, id);
CREATE INDEX finding_aside ON finding (org, aside_till) WHERE aside_till <> 0;

-- What was known when a finding was raised: read one at a time, so it does not
-- stand in the way of those who read many findings.
CREATE TABLE finding_blob (
    n    BIGINT NOT NULL PRIMARY KEY,
    blob BLOB NOT NULL
);

CREATE TABLE finding_event (
    org  TEXT NOT NULL,
    n    BIGINT NOT NULL,
    at   BIGINT NOT NULL,
    what TEXT NOT NULL,
    who  TEXT NOT NULL
);

CREATE INDEX finding_event_of ON finding_event (n, at);
CREATE INDEX finding_event_at ON finding_event (org, at);

-- How many findings there are of each kind, kept by differences in the
-- transaction that changes them: by where they are, and by what they are of.
CREATE TABLE finding_place (
    org      TEXT NOT NULL,
    account  TEXT NOT NULL,
    provider TEXT NOT NULL,
    service  TEXT NOT NULL,
    region   TEXT NOT NULL,
    level    TEXT NOT NULL,
    status   TEXT NOT NULL,
    total    BIGINT NOT NULL,
    PRIMARY KEY (org, account, provider, service, region, level, status)
);

CREATE TABLE finding_kind (
    org      TEXT NOT NULL,
    rule     TEXT NOT NULL,
    provider TEXT NOT NULL,
    service  TEXT NOT NULL,
    level    TEXT NOT NULL,
    status   TEXT NOT NULL,
    total    BIGINT NOT NULL,
    PRIMARY KEY (org, rule, provider, service, level, status)
);

-- What each rule said of an account when it was last evaluated.
CREATE TABLE rule_verdict (
    org       TEXT NOT NULL,
    account   TEXT NOT NULL,
    rule      TEXT NOT NULL,
    violating BIGINT NOT NULL,
    passing   BIGINT NOT NULL,
    unknown   BIGINT NOT NULL,
    PRIMARY KEY (org, account, rule)
);

CREATE INDEX rule_verdict_of ON rule_verdict (org, rule);

-- The generation of an account's entities that was judged last, and the number
-- of the next finding.
CREATE TABLE judged (
    org        TEXT NOT NULL,
    account    TEXT NOT NULL,
    generation BIGINT NOT NULL,
    PRIMARY KEY (org, account)
);

CREATE TABLE finding_number (
    one  BIGINT NOT NULL PRIMARY KEY,
    next BIGINT NOT NULL
);

INSERT INTO finding_number (one, next) VALUES (1, 1);
