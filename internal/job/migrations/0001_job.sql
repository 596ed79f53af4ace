-- A process that works on jobs, and when it last said that it lives.
CREATE TABLE job_worker (
	id      TEXT   NOT NULL PRIMARY KEY,
	seen_at BIGINT NOT NULL
);

-- What a running job keeps others from doing at the same time. It is given up
-- with the worker.
CREATE TABLE job_lock (
	name   TEXT   NOT NULL PRIMARY KEY,
	job_id BIGINT NOT NULL,
	worker TEXT   NOT NULL REFERENCES job_worker (id) ON DELETE CASCADE
);
CREATE INDEX job_lock_worker ON job_lock (worker);

-- When a repeated job is due next.
CREATE TABLE job_schedule (
	name   TEXT   NOT NULL PRIMARY KEY,
	due_at BIGINT NOT NULL
);
