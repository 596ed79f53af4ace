-- SQLite does not group by tokens.
SELECT 1;
