-- Mute rules, and which of them suppressed a finding.
CREATE TABLE mute_rule (
    org     TEXT NOT NULL,
    id      TEXT NOT NULL,
    name    TEXT NOT NULL,
    until   BIGINT NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (org, id)
);

ALTER TABLE finding ADD COLUMN mute_rule TEXT NOT NULL DEFAULT '';

CREATE INDEX finding_mute ON finding (org, mute_rule) WHERE mute_rule <> '';
