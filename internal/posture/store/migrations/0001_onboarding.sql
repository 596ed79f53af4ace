-- What an organisation has onboarded. Lists and maps are JSON text; times are
-- milliseconds since 1970.

CREATE TABLE account (
    org            TEXT NOT NULL,
    id             TEXT NOT NULL,
    provider       TEXT NOT NULL,
    name           TEXT NOT NULL,
    csp_project_id TEXT NOT NULL,
    environment    TEXT,
    owner          TEXT,
    properties     TEXT NOT NULL,
    tags           TEXT NOT NULL,
    root           TEXT NOT NULL,
    status         TEXT NOT NULL,
    status_since   BIGINT NOT NULL,
    reason         TEXT NOT NULL,
    stream         TEXT NOT NULL,
    stream_since   BIGINT NOT NULL,
    stream_seen    BOOLEAN NOT NULL,
    rollup         TEXT NOT NULL,
    rollup_since   BIGINT NOT NULL,
    last_run       TEXT NOT NULL,
    etag           TEXT NOT NULL,
    created        BIGINT NOT NULL,
    updated        BIGINT NOT NULL,
    PRIMARY KEY (org, id)
);

CREATE INDEX account_root ON account (org, root) WHERE root <> '';

CREATE TABLE credential (
    org        TEXT NOT NULL,
    id         TEXT NOT NULL,
    provider   TEXT NOT NULL,
    properties TEXT NOT NULL,
    secrets    BLOB NOT NULL,
    etag       TEXT NOT NULL,
    created    BIGINT NOT NULL,
    updated    BIGINT NOT NULL,
    PRIMARY KEY (org, id)
);

CREATE TABLE link (
    org        TEXT NOT NULL,
    account    TEXT NOT NULL,
    credential TEXT NOT NULL,
    provider   TEXT NOT NULL,
    etag       TEXT NOT NULL,
    created    BIGINT NOT NULL,
    updated    BIGINT NOT NULL,
    PRIMARY KEY (org, account, credential),
    FOREIGN KEY (org, account) REFERENCES account (org, id) ON DELETE CASCADE,
    FOREIGN KEY (org, credential) REFERENCES credential (org, id) ON DELETE CASCADE
);

CREATE INDEX link_credential ON link (org, credential);
