// Package sqldb opens a SQLite or PostgreSQL database by URL, migrates its schema, and
// runs transactions on it.
//
// Both databases share one SQL text. It uses $1 parameters; where the databases differ
// (bulk loading, row locks, advisory locks), [Tx] or [DB] has a method. Every statement
// runs in a transaction, [DB.Write] or [DB.Read].
//
// # Writing portable SQL
//
// Types: only TEXT, BIGINT, BOOLEAN, BLOB and DOUBLE PRECISION. In migrations for both
// databases, TEXT becomes TEXT COLLATE "C" on PostgreSQL, so that text sorts by bytes
// on both, and BLOB becomes BYTEA.
//   - INTEGER has 32 bits on PostgreSQL: use BIGINT.
//   - Times are BIGINT, milliseconds since 1970 in UTC: [Millis], [Time].
//   - BOOLEAN scans to and from a Go bool on both. Write TRUE and FALSE; PostgreSQL
//     rejects comparisons with 0 and 1.
//   - JSON is TEXT. PostgreSQL rejects the character U+0000 in TEXT.
//
// Statements: ON CONFLICT … DO UPDATE with excluded, RETURNING, WITH, CASE and
// window functions work on both. Known traps:
//   - NULL sorts first on SQLite, last on PostgreSQL: write NULLS FIRST or LAST.
//   - LIKE ignores ASCII case on SQLite only: compare lower(x) with lower-case text.
//     lower() changes ASCII letters only, on both. LIKE has no escape character
//     on SQLite unless ESCAPE names one.
//   - An error inside a transaction aborts all of it on PostgreSQL. Where a conflict
//     is expected, use ON CONFLICT DO NOTHING and check the row count.
//   - PostgreSQL infers one type for each parameter from its use. Where it cannot,
//     as in SELECT $1 or $1 IS NULL, write CAST($1 AS TEXT).
//   - Integer division, || and coalesce behave the same. Dates, regular expressions,
//     arrays and JSON operators do not.
//   - Lists: [List] writes the parameters of IN.
//
// # Writers
//
// SQLite has one writer at a time, so data does not change during a write transaction.
// On PostgreSQL writers run concurrently at READ COMMITTED: a transaction that reads,
// decides and writes must either decide in the statement that writes (UPDATE … WHERE
// version = $1, and check the row count), or take a lock first with [Tx.Lock] or
// [Tx.ForUpdate].
package sqldb
