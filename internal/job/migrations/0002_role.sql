-- What a process does, separated by commas: it shares limits with others that do
-- the same.
ALTER TABLE job_worker ADD COLUMN roles TEXT NOT NULL DEFAULT '';
