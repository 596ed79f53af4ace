-- More ways to count findings: by rule and region, by account and rule, and by
-- all of them.
CREATE TABLE finding_spot (
    org      TEXT NOT NULL,
    rule     TEXT NOT NULL,
    region   TEXT NOT NULL,
    provider TEXT NOT NULL,
    service  TEXT NOT NULL,
    level    TEXT NOT NULL,
    status   TEXT NOT NULL,
    total    BIGINT NOT NULL,
    PRIMARY KEY (org, rule, region, provider, service, level, status)
);

CREATE TABLE finding_duty (
    org      TEXT NOT NULL,
    account  TEXT NOT NULL,
    rule     TEXT NOT NULL,
    provider TEXT NOT NULL,
    service  TEXT NOT NULL,
    level    TEXT NOT NULL,
    status   TEXT NOT NULL,
    total    BIGINT NOT NULL,
    PRIMARY KEY (org, account, rule, provider, service, level, status)
);

CREATE TABLE finding_cell (
    org      TEXT NOT NULL,
    account  TEXT NOT NULL,
    rule     TEXT NOT NULL,
    region   TEXT NOT NULL,
    provider TEXT NOT NULL,
    service  TEXT NOT NULL,
    level    TEXT NOT NULL,
    status   TEXT NOT NULL,
    total    BIGINT NOT NULL,
    PRIMARY KEY (org, account, rule, region, provider, service, level, status)
);

INSERT INTO finding_spot (org, rule, region, provider, service, level, status, total)
SELECT org, rule, region, provider, service, level, status, count(*) FROM finding GROUP BY org, rule, region, provider, service, level, status;

INSERT INTO finding_duty (org, account, rule, provider, service, level, status, total)
SELECT org, account, rule, provider, service, level, status, count(*) FROM finding GROUP BY org, account, rule, provider, service, level, status;

INSERT INTO finding_cell (org, account, rule, region, provider, service, level, status, total)
SELECT org, account, rule, region, provider, service, level, status, count(*) FROM finding GROUP BY org, account, rule, region, provider, service, level, status;

-- The orders that lists are asked for in. The id goes the other way than the field
-- before it, so that one index serves both directions.
CREATE INDEX finding_status ON finding (org, status, risk DESC, id);
CREATE INDEX finding_created ON finding (org, created DESC, id);
CREATE INDEX finding_updated ON finding (org, updated DESC, id);
