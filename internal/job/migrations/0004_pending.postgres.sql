-- Jobs that wait for the quota of their share count as waiting too: see quota.go.
DROP INDEX job_share;
CREATE INDEX job_share ON river_job (queue, (metadata ->> 'share')) WHERE state IN ('available', 'pending');
