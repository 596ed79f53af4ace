CREATE TABLE desktop_session (
	id         TEXT   NOT NULL PRIMARY KEY,
	domain_id  TEXT   NOT NULL,
	domain     TEXT   NOT NULL,
	username   TEXT   NOT NULL,
	user_sid   TEXT   NOT NULL,
	source     TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	ended_at   BIGINT NOT NULL
);

CREATE INDEX desktop_session_expires ON desktop_session (expires_at);

CREATE TABLE desktop_login_failure (
	subject TEXT   NOT NULL PRIMARY KEY,
	failed  BIGINT NOT NULL,
	last_at BIGINT NOT NULL
);

CREATE TABLE desktop_key (
	id           TEXT   NOT NULL PRIMARY KEY,
	name         TEXT   NOT NULL,
	hash         BLOB   NOT NULL UNIQUE,
	hint         TEXT   NOT NULL,
	created_by   TEXT   NOT NULL,
	created_at   BIGINT NOT NULL,
	expires_at   BIGINT NOT NULL,
	last_used_at BIGINT NOT NULL
);

CREATE TABLE desktop_clone_account (
	id           TEXT   NOT NULL PRIMARY KEY,
	domain_sid   TEXT   NOT NULL,
	username     TEXT   NOT NULL,
	username_key TEXT   NOT NULL,
	sealed       BLOB   NOT NULL,
	created_at   BIGINT NOT NULL,
	updated_at   BIGINT NOT NULL,
	UNIQUE (domain_sid, username_key)
);

CREATE TABLE desktop_change (
	id          TEXT   NOT NULL PRIMARY KEY,
	changed_at  BIGINT NOT NULL,
	kind        TEXT   NOT NULL,
	component   TEXT   NOT NULL,
	name        TEXT   NOT NULL,
	part        TEXT   NOT NULL,
	from_status TEXT   NOT NULL,
	to_status   TEXT   NOT NULL,
	reasons     TEXT   NOT NULL
);

CREATE INDEX desktop_change_component ON desktop_change (kind, component, id);
CREATE INDEX desktop_change_time ON desktop_change (changed_at);

CREATE TABLE desktop_authority (
	id          TEXT NOT NULL PRIMARY KEY,
	certificate BLOB NOT NULL,
	sealed      BLOB NOT NULL
);

CREATE TABLE desktop_enrolment_token (
	id         TEXT   NOT NULL PRIMARY KEY,
	hash       BLOB   NOT NULL UNIQUE,
	kind       TEXT   NOT NULL,
	component  TEXT   NOT NULL,
	created_by TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL,
	used_at    BIGINT NOT NULL
);

CREATE TABLE desktop_agent_certificate (
	serial     TEXT   NOT NULL PRIMARY KEY,
	kind       TEXT   NOT NULL,
	component  TEXT   NOT NULL,
	not_before BIGINT NOT NULL,
	not_after  BIGINT NOT NULL,
	revoked_at BIGINT NOT NULL
);

CREATE INDEX desktop_agent_certificate_component ON desktop_agent_certificate (kind, component);

CREATE TABLE desktop_beat (
	kind        TEXT   NOT NULL,
	component   TEXT   NOT NULL,
	serial      TEXT   NOT NULL,
	sequence    BIGINT NOT NULL,
	received_at BIGINT NOT NULL,
	payload     TEXT   NOT NULL,
	PRIMARY KEY (kind, component)
);

CREATE TABLE desktop_alert_rule (
	id         TEXT    NOT NULL PRIMARY KEY,
	name       TEXT    NOT NULL,
	enabled    BOOLEAN NOT NULL,
	definition TEXT    NOT NULL,
	sealed     BLOB    NOT NULL,
	version    BIGINT  NOT NULL,
	created_at BIGINT  NOT NULL,
	updated_at BIGINT  NOT NULL
);

CREATE TABLE desktop_alert (
	rule_id     TEXT   NOT NULL REFERENCES desktop_alert_rule (id) ON DELETE CASCADE,
	subject     TEXT   NOT NULL,
	kind        TEXT   NOT NULL,
	component   TEXT   NOT NULL,
	name        TEXT   NOT NULL,
	part        TEXT   NOT NULL,
	state       TEXT   NOT NULL,
	summary     TEXT   NOT NULL,
	since       BIGINT NOT NULL,
	fired_at    BIGINT NOT NULL,
	notified_at BIGINT NOT NULL,
	resolved_at BIGINT NOT NULL,
	PRIMARY KEY (rule_id, subject)
);

CREATE TABLE desktop_delivery (
	id         TEXT   NOT NULL PRIMARY KEY,
	rule_id    TEXT   NOT NULL REFERENCES desktop_alert_rule (id) ON DELETE CASCADE,
	channel    BIGINT NOT NULL,
	notice     TEXT   NOT NULL,
	attempts   BIGINT NOT NULL,
	next_at    BIGINT NOT NULL,
	expire_at  BIGINT NOT NULL,
	last_error TEXT   NOT NULL
);

CREATE INDEX desktop_delivery_due ON desktop_delivery (next_at);
