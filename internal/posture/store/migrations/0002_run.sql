-- Collection runs, who works on them, and when accounts are due again.

CREATE TABLE run (
    org        TEXT NOT NULL,
    id         TEXT NOT NULL,
    account    TEXT NOT NULL,
    provider   TEXT NOT NULL,
    scope      TEXT NOT NULL,
    status     TEXT NOT NULL,
    started    BIGINT NOT NULL,
    ended      BIGINT NOT NULL,
    updated    BIGINT NOT NULL,
    collectors TEXT NOT NULL,
    done       BIGINT NOT NULL,
    units      BIGINT NOT NULL,
    entities   BIGINT NOT NULL,
    reason     TEXT NOT NULL,
    lease      BIGINT NOT NULL,
    stop       BOOLEAN NOT NULL,
    PRIMARY KEY (org, id)
);

-- One run of an account goes on at a time.
CREATE UNIQUE INDEX run_going ON run (org, account) WHERE status = 'Started';
CREATE INDEX run_lease ON run (lease) WHERE status = 'Started';
CREATE INDEX run_newest ON run (org, started, id);
CREATE INDEX run_account ON run (org, account, started, id);

CREATE TABLE schedule (
    org     TEXT NOT NULL,
    account TEXT NOT NULL,
    due     BIGINT NOT NULL,
    PRIMARY KEY (org, account),
    FOREIGN KEY (org, account) REFERENCES account (org, id) ON DELETE CASCADE
);

CREATE INDEX schedule_due ON schedule (due);
