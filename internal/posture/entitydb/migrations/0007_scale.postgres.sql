-- An account has a few large cells and many small ones. From the usual sample
-- PostgreSQL took ten million entities to be in a million cells instead of 13,000,
-- and sorted them all to count them by type and tag.
ALTER STATISTICS entity_cells SET STATISTICS 1000;
