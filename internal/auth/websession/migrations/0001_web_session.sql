CREATE TABLE web_session (
	id             TEXT   NOT NULL PRIMARY KEY,
	handle         BLOB   NOT NULL UNIQUE, -- SHA-256 of the part of the cookie that stays
	realm          TEXT   NOT NULL,
	org            TEXT   NOT NULL,
	subject        TEXT   NOT NULL,
	grant_id       TEXT   NOT NULL,
	name           TEXT   NOT NULL,
	method         TEXT   NOT NULL,
	secret         BLOB   NOT NULL, -- SHA-256 of the part of the cookie that is rotated
	rotated_at     BIGINT NOT NULL,
	pending        BLOB,            -- the next one, sent to the browser and not seen yet
	pending_at     BIGINT,
	previous       BLOB,            -- the last one, for requests that were under way
	previous_until BIGINT,
	created_at     BIGINT NOT NULL,
	used_at        BIGINT NOT NULL,
	ends_at        BIGINT NOT NULL,
	ended_at       BIGINT,
	ended_why      TEXT   NOT NULL DEFAULT '',
	address        TEXT   NOT NULL,
	agent          TEXT   NOT NULL
);

CREATE INDEX web_session_by_subject ON web_session (realm, org, subject);
CREATE INDEX web_session_by_end ON web_session (ends_at);

CREATE TABLE web_ticket (
	hash     BLOB   NOT NULL PRIMARY KEY, -- SHA-256 of the ticket
	realm    TEXT   NOT NULL,
	org      TEXT   NOT NULL,
	subject  TEXT   NOT NULL,
	grant_id TEXT   NOT NULL,
	name     TEXT   NOT NULL,
	method   TEXT   NOT NULL,
	ends_at  BIGINT NOT NULL
);
