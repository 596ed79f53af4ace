-- PostgreSQL replaces what a row is found by as a whole.
SELECT 1;
