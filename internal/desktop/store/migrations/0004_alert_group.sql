-- An alert that ended stays when the next one of the same subject begins, so
-- since is part of the key. The cause says which alerts belong together.
CREATE TABLE desktop_alert_next (
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
	cause_kind  TEXT   NOT NULL,
	cause_id    TEXT   NOT NULL,
	cause_name  TEXT   NOT NULL,
	PRIMARY KEY (rule_id, subject, since)
);

INSERT INTO desktop_alert_next (rule_id, subject, kind, component, name, part, state, summary, since, fired_at, notified_at, resolved_at,
	cause_kind, cause_id, cause_name)
SELECT rule_id, subject, kind, component, name, part, state, summary, since, fired_at, notified_at, resolved_at, kind, component, name
FROM desktop_alert;

DROP TABLE desktop_alert;
ALTER TABLE desktop_alert_next RENAME TO desktop_alert;
CREATE INDEX desktop_alert_resolved ON desktop_alert (resolved_at);

-- What administrators said about a group of alerts: that they know, or that
-- nothing is to be sent for a while.
CREATE TABLE desktop_alert_note (
	group_id        TEXT   NOT NULL PRIMARY KEY,
	rule_id         TEXT   NOT NULL REFERENCES desktop_alert_rule (id) ON DELETE CASCADE,
	acknowledged_by TEXT   NOT NULL,
	acknowledged_at BIGINT NOT NULL,
	comment         TEXT   NOT NULL,
	silenced_by     TEXT   NOT NULL,
	silenced_until  BIGINT NOT NULL,
	silence_reason  TEXT   NOT NULL
);
