CREATE TABLE audit_record (
	number    BIGINT NOT NULL PRIMARY KEY,
	at        BIGINT NOT NULL,
	org_id    TEXT   NOT NULL,
	actor     TEXT   NOT NULL,
	operation TEXT   NOT NULL,
	outcome   TEXT   NOT NULL,
	body      TEXT   NOT NULL, -- what is hashed; the columns before repeat parts of it
	prev      BLOB   NOT NULL,
	hash      BLOB   NOT NULL,
	key_id    TEXT   NOT NULL, -- empty unless signed
	signature BLOB   NOT NULL
);

CREATE INDEX audit_record_by_org ON audit_record (org_id, number);

-- The newest record, and where the chain begins once old records were removed.
CREATE TABLE audit_chain (
	id               BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
	number           BIGINT NOT NULL,
	hash             BLOB   NOT NULL,
	anchor_number    BIGINT NOT NULL,
	anchor_hash      BLOB   NOT NULL,
	anchor_key_id    TEXT   NOT NULL,
	anchor_signature BLOB   NOT NULL
);

CREATE TABLE audit_key (
	id         TEXT   NOT NULL PRIMARY KEY,
	number     BIGINT NOT NULL UNIQUE,
	sealed     BLOB   NOT NULL,
	created_at BIGINT NOT NULL
);
