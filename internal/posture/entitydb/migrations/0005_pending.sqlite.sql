-- SQLite looks tokens up in a table of its own, in which nothing waits.
SELECT 1;
