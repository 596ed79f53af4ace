-- PostgreSQL keeps tokens as numbers.
SELECT 1;
