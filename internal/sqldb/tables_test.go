package sqldb_test

import (
	"testing"

	"vigil/internal/sqldb/dbtest"
)

// TestShadowTablesCountAsTheirIndex has a table whose name differs from that of a shadow table
// only where the name of the full-text index has an underscore.
func TestShadowTablesCountAsTheirIndex(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t))
	write(t, db, `CREATE VIRTUAL TABLE thing_text USING fts5(body)`)
	write(t, db, `CREATE TABLE things_text_data (id INTEGER)`)
	write(t, db, `CREATE TABLE thingstext_data (id INTEGER)`)
	write(t, db, `INSERT INTO thingstext_data (id) VALUES (1), (2)`)
	tables, err := db.Tables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for _, table := range tables {
		rows[table.Name] = table.Rows
	}
	for name, want := range map[string]int64{"thing_text": 0, "things_text_data": 0, "thingstext_data": 2} {
		if n, ok := rows[name]; !ok || n != want {
			t.Errorf("%s: listed %t with %d rows, want %d", name, ok, n, want)
		}
	}
	for name := range rows {
		if name == "thing_text_data" {
			t.Error("a shadow table is listed")
		}
	}
}
