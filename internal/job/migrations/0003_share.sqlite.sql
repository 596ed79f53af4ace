-- How many jobs wait in a queue for somebody: see share.go.
CREATE INDEX job_share ON river_job (queue, json_extract(metadata, '$.share')) WHERE state = 'available';
