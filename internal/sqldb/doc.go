// Package sqldb opens a SQLite or PostgreSQL database by URL, brings its tables
// up to date, and runs transactions on it.
//
// There is one SQL text for both. It is written with $1 parameters, and what
// truly differs is a method of [Tx] or [DB]: bulk loading, row locks, advisory
// locks. Every statement runs in a transaction, [DB.Write] or [DB.Read].
//
// # Writing portable SQL
//
// Types: TEXT, BIGINT, BOOLEAN, BLOB, DOUBLE PRECISION; nothing else. In
// migrations that serve both databases TEXT is read as TEXT COLLATE "C" by
// PostgreSQL, so that text sorts by bytes on both, and BLOB as BYTEA.
//   - INTEGER has 32 bits on PostgreSQL: say BIGINT.
//   - Times are BIGINT, milliseconds since 1970 in UTC: [Millis], [Time].
//   - BOOLEAN takes and gives a Go bool on both. Write TRUE and FALSE; never
//     compare with 0 or 1, which PostgreSQL refuses.
//   - JSON is TEXT. PostgreSQL refuses the character U+0000 in TEXT.
//
// Statements: ON CONFLICT … DO UPDATE with excluded, RETURNING, WITH, CASE and
// window functions work on both. Known traps:
//   - NULL sorts first on SQLite, last on PostgreSQL: say NULLS FIRST or LAST.
//   - LIKE ignores ASCII case on SQLite alone: compare lower(x) with lower text.
//     lower() changes ASCII letters only, on both. LIKE has no escape character
//     on SQLite unless ESCAPE names one.
//   - An error inside a transaction spoils all of it on PostgreSQL. Expect a
//     conflict with ON CONFLICT DO NOTHING and look at the count; do not run
//     into it and carry on.
//   - PostgreSQL gives each parameter one type, found from its use. Where there
//     is no use to find it from, as in SELECT $1 or $1 IS NULL, write
//     CAST($1 AS TEXT).
//   - Integer division, || and coalesce are alike. Dates, regular expressions,
//     arrays and JSON operators are not.
//   - Lists: [List] writes the parameters of IN.
//
// # Writers
//
// On SQLite there is one writer at a time, so a write transaction sees nothing
// change under it. On PostgreSQL writers run side by side at the level READ
// COMMITTED: a transaction that reads, decides and writes must either decide in
// the statement that writes (UPDATE … WHERE version = $1, and look at the
// count), or take a lock first: [Tx.Lock] or [Tx.ForUpdate].
package sqldb
