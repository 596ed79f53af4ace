-- Columns under the names that the code uses.
ALTER TABLE entity RENAME COLUMN rid TO row_id;
ALTER TABLE entity RENAME COLUMN ekey TO id_hash;
ALTER TABLE entity_change RENAME COLUMN rid TO row_id;
ALTER TABLE entity_change RENAME COLUMN ekey TO id_hash;
ALTER TABLE entity_partition RENAME COLUMN acct TO account_no;
ALTER TABLE entity_cell RENAME COLUMN acct TO account_no;
ALTER TABLE entity_delta RENAME COLUMN acct TO account_no;
ALTER TABLE entity_snapshot RENAME COLUMN acct TO account_no;
ALTER TABLE entity_coverage RENAME COLUMN acct TO account_no;
