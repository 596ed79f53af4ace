-- SQLite keeps no statistics of cells.
SELECT 1;
