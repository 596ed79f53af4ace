-- Views of the console that people saved: a name for an address.
CREATE TABLE saved_view (
    org     TEXT NOT NULL,
    id      TEXT NOT NULL,
    owner   TEXT NOT NULL,
    shared  BOOLEAN NOT NULL,
    name    TEXT NOT NULL,
    screen  TEXT NOT NULL,
    query   TEXT NOT NULL,
    updated BIGINT NOT NULL,
    PRIMARY KEY (org, id)
);

CREATE INDEX saved_view_owner ON saved_view (org, owner);
