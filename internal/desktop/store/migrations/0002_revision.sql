-- One row: which store this is, and how often what administrators set up has
-- changed. Servers that share it compare it to see whether they do.
CREATE TABLE desktop_revision (
	id         TEXT   NOT NULL PRIMARY KEY,
	number     BIGINT NOT NULL,
	changed_at BIGINT NOT NULL
);

CREATE TABLE desktop_vault (
	id         TEXT   NOT NULL PRIMARY KEY,
	sealed     BLOB   NOT NULL,
	updated_at BIGINT NOT NULL
);
