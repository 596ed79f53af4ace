-- The values of the targets of records, to find the records by.
CREATE TABLE audit_target (
	number BIGINT NOT NULL,
	org_id TEXT   NOT NULL,
	target TEXT   NOT NULL,
	PRIMARY KEY (number, target)
);

CREATE INDEX audit_target_by_value ON audit_target (org_id, target, number);

-- Targets with NUL, which PostgreSQL does not store, are found without it.
INSERT INTO audit_target (number, org_id, target)
SELECT DISTINCT r.number, r.org_id, substr(j.value, 1, 200)
FROM audit_record r, json_each_text(CAST(replace(replace(r.body, '\\', '\u005c'), '\u0000', '') AS json) -> 'targets') AS j
WHERE j.value <> '';
