-- Requests that were sent with an Idempotency-Key and made a change. A status of
-- 0 says that the answer was not kept.
CREATE TABLE idempotency_key (
	realm        TEXT   NOT NULL,
	owner        TEXT   NOT NULL,
	key          TEXT   NOT NULL,
	fingerprint  TEXT   NOT NULL,
	request_id   TEXT   NOT NULL,
	created_at   BIGINT NOT NULL,
	status       BIGINT NOT NULL,
	location     TEXT   NOT NULL,
	etag         TEXT   NOT NULL,
	content_type TEXT   NOT NULL,
	body         BLOB   NOT NULL,
	PRIMARY KEY (realm, owner, key)
);

CREATE INDEX idempotency_key_created ON idempotency_key (created_at);
