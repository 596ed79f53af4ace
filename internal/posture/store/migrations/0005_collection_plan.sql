-- How often accounts are collected, and which regions are read. every_hours 0 and
-- paused NULL of an account mean the plan of its organisation; an organisation without
-- a row has the default plan.
CREATE TABLE collection_plan (
    org         TEXT NOT NULL PRIMARY KEY,
    every_hours BIGINT NOT NULL,
    paused      BOOLEAN NOT NULL
);

ALTER TABLE account ADD COLUMN every_hours BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN paused BOOLEAN;
ALTER TABLE account ADD COLUMN regions TEXT NOT NULL DEFAULT '[]';
