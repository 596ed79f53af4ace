-- Entities are grouped by some of their tokens, and by cell. What that makes is
-- computed, so PostgreSQL would take it to be as many groups as there are
-- entities, and sort them all in one process.
ALTER TABLE entity ALTER COLUMN tokens SET (n_distinct = 1000);
CREATE STATISTICS entity_cells ON (rid >> 28) FROM entity;
