CREATE TABLE auth_org (
	id         TEXT    NOT NULL PRIMARY KEY,
	name       TEXT    NOT NULL,
	name_key   TEXT    NOT NULL UNIQUE, -- the name without regard to case
	disabled   BOOLEAN NOT NULL,
	created_at BIGINT  NOT NULL
);

CREATE TABLE auth_user (
	id         TEXT    NOT NULL PRIMARY KEY,
	org_id     TEXT    NOT NULL REFERENCES auth_org (id),
	name       TEXT    NOT NULL,
	name_key   TEXT    NOT NULL,
	email      TEXT    NOT NULL,
	role       TEXT    NOT NULL CHECK (role IN ('viewer', 'analyst', 'admin')),
	disabled   BOOLEAN NOT NULL,
	version    BIGINT  NOT NULL,
	created_at BIGINT  NOT NULL,
	updated_at BIGINT  NOT NULL,
	UNIQUE (org_id, name_key)
);

CREATE TABLE auth_token (
	id           TEXT   NOT NULL PRIMARY KEY,
	org_id       TEXT   NOT NULL REFERENCES auth_org (id),
	user_id      TEXT   NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	hash         BLOB   NOT NULL UNIQUE,
	hint         TEXT   NOT NULL,
	name         TEXT   NOT NULL,
	role         TEXT   NOT NULL CHECK (role IN ('viewer', 'analyst', 'admin')),
	created_by   TEXT   NOT NULL,
	created_at   BIGINT NOT NULL,
	expires_at   BIGINT,
	revoked_at   BIGINT,
	last_used_at BIGINT,
	last_address TEXT   NOT NULL DEFAULT ''
);

CREATE INDEX auth_token_by_org ON auth_token (org_id, created_at);
CREATE INDEX auth_token_by_user ON auth_token (user_id);

-- Grows with every change to the tables above, so that other processes notice.
CREATE TABLE auth_generation (
	id         BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
	generation BIGINT NOT NULL
);

INSERT INTO auth_generation (id, generation) VALUES (1, 1);

CREATE TABLE auth_signing_key (
	id         TEXT   NOT NULL PRIMARY KEY,
	realm      TEXT   NOT NULL,
	number     BIGINT NOT NULL,
	public     BLOB   NOT NULL,
	sealed     BLOB   NOT NULL,
	created_at BIGINT NOT NULL,
	active_at  BIGINT NOT NULL,
	UNIQUE (realm, number)
);
