-- Programs that wait until a user confirms their code in a browser. The hash is that of
-- the API token which a program has then.
CREATE TABLE auth_device (
    code       TEXT NOT NULL PRIMARY KEY,
    hash       BLOB NOT NULL,
    hint       TEXT NOT NULL,
    client     TEXT NOT NULL,
    source     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    state      TEXT NOT NULL
);

CREATE UNIQUE INDEX auth_device_hash ON auth_device (hash);
CREATE INDEX auth_device_expires ON auth_device (expires_at);
