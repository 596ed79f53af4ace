package dbcopy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/sqldb"
)

// A table is a table that both databases have.
type table struct {
	name    string
	columns []column
	key     []int    // columns that rows are ordered by: the primary key, or all
	unique  bool     // whether the key is a primary key
	parents []string // tables that its foreign keys refer to
	writer  *Writer
}

// tableNames returns the tables of a database, without virtual tables of SQLite and
// their shadow tables.
func tableNames(tx *sqldb.Tx) ([]string, error) {
	text := `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`
	if tx.Dialect() == sqldb.Postgres {
		text = `SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema() ORDER BY tablename COLLATE "C"`
	}
	return sqldb.Query(tx, sqldb.Scalar[string], text)
}

// plan returns the tables to copy, referenced ones first. It fails if only one database
// has a table or column, unless the options name it.
func plan(ctx context.Context, from, to *sqldb.DB, opts Options) ([]table, error) {
	sqlite, postgres := from, to
	if sqlite.Dialect() == sqldb.Postgres {
		sqlite, postgres = to, from
	}
	var tables []table
	names := map[sqldb.Dialect][]string{}
	err := sqlite.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if names[sqldb.SQLite], err = tableNames(tx); err != nil {
			return err
		}
		for _, name := range names[sqldb.SQLite] {
			if contains(opts.Skip, name) || name == markTable {
				continue
			}
			t, err := readTable(tx, name)
			if err != nil {
				return fmt.Errorf("read the schema of %s: %w", name, err)
			}
			tables = append(tables, t)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = postgres.Read(ctx, func(tx *sqldb.Tx) (err error) {
		if names[sqldb.Postgres], err = tableNames(tx); err != nil {
			return err
		}
		for i := range tables {
			if err := readTypes(tx, &tables[i], opts); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names[sqldb.Postgres] {
		if !contains(names[sqldb.SQLite], name) && !contains(opts.Skip, name) && name != markTable {
			return nil, fmt.Errorf("SQLite has no table %s", name)
		}
	}
	return inOrder(tables)
}

// readTable reads the definition of a table in SQLite.
func readTable(tx *sqldb.Tx, name string) (table, error) {
	t := table{name: name}
	type info struct {
		name     string
		required bool
		key      int // position in the primary key, from 1, or 0
	}
	columns, err := sqldb.Query(tx, func(r sqldb.Row) (c info, err error) {
		err = r.Scan(&c.name, &c.required, &c.key)
		return c, err
	}, `SELECT name, "notnull", pk FROM pragma_table_info($1) ORDER BY name`, name)
	if err != nil {
		return t, err
	}
	t.key = make([]int, len(columns))
	for i, c := range columns {
		t.columns = append(t.columns, column{name: c.name, required: c.required || c.key > 0})
		t.unique = t.unique || c.key > 0
		if c.key > 0 {
			t.key[c.key-1] = i
		}
	}
	n := 0
	for _, c := range columns {
		n = max(n, c.key)
	}
	t.key = t.key[:n]
	if !t.unique {
		if t.key, err = wholeRow(tx, t); err != nil {
			return t, err
		}
	}
	t.parents, err = sqldb.Query(tx, sqldb.Scalar[string], `SELECT DISTINCT "table" FROM pragma_foreign_key_list($1) ORDER BY 1`, name)
	return t, err
}

// wholeRow returns all columns of a table without a primary key as its key. The columns
// of its first index come first, so that rows are read in index order.
func wholeRow(tx *sqldb.Tx, t table) (key []int, err error) {
	indexed, err := sqldb.Query(tx, sqldb.Scalar[string], `
		SELECT x.name
		FROM pragma_index_list($1) l, pragma_index_info(l.name) x
		WHERE l.name = (SELECT min(name) FROM pragma_index_list($1))
		ORDER BY x.seqno DESC`, t.name)
	if err != nil {
		return nil, err
	}
	for i, c := range t.columns {
		if !c.required {
			return nil, fmt.Errorf("column %s may be null, and there is no primary key", c.name)
		}
		key = append(key, i)
	}
	// The query returns the columns of the index in reverse order, so sort by descending
	// position in indexed. The other columns have the position -1 and come last.
	slices.SortStableFunc(key, func(a, b int) int {
		return slices.Index(indexed, t.columns[b].name) - slices.Index(indexed, t.columns[a].name)
	})
	return key, nil
}

// readTypes adds the column types of PostgreSQL, and the Writer of the table if there is one.
func readTypes(tx *sqldb.Tx, t *table, opts Options) error {
	type info struct{ name, typ, udt string }
	found, err := sqldb.Query(tx, func(r sqldb.Row) (c info, err error) {
		err = r.Scan(&c.name, &c.typ, &c.udt)
		return c, err
	}, `
		SELECT column_name::text, data_type::text, udt_name::text
		FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1`, t.name)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("PostgreSQL has no table %s", t.name)
	}
	for i := range opts.Writers {
		if opts.Writers[i].Table == t.name {
			t.writer = &opts.Writers[i]
			t.parents = append(t.parents, t.writer.Needs...)
		}
	}
	for _, f := range found {
		i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == f.name })
		if i < 0 {
			if t.writer == nil || !contains(t.writer.Columns, f.name) {
				return fmt.Errorf("SQLite has no column %s.%s", t.name, f.name)
			}
			continue
		}
		if t.columns[i].kind, err = kindOf(f.typ, f.udt); err != nil {
			return fmt.Errorf("column %s.%s: %w", t.name, f.name, err)
		}
		t.columns[i].enum = f.udt
	}
	for _, c := range t.columns {
		if c.kind == 0 {
			return fmt.Errorf("PostgreSQL has no column %s.%s", t.name, c.name)
		}
	}
	return nil
}

// inOrder sorts tables topologically: each comes after those it refers to.
func inOrder(tables []table) (sorted []table, err error) {
	done := map[string]bool{}
	for len(tables) > 0 {
		rest := tables[:0:0]
		for _, t := range tables {
			ready := !slices.ContainsFunc(t.parents, func(p string) bool { return !done[p] && p != t.name })
			if !ready {
				rest = append(rest, t)
				continue
			}
			done[t.name] = true
			sorted = append(sorted, t)
		}
		if len(rest) == len(tables) {
			return nil, fmt.Errorf("table %s refers to a table that is not copied, or tables refer to each other", rest[0].name)
		}
		tables = rest
	}
	return sorted, nil
}

// empty reports whether a table has no rows.
func (t table) empty(ctx context.Context, db *sqldb.DB) (empty bool, err error) {
	err = db.Read(ctx, func(tx *sqldb.Tx) error {
		hasRows, err := sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT EXISTS (SELECT 1 FROM `+quote(t.name)+`)`)
		empty = !hasRows
		return err
	})
	return empty, err
}

// selectRows returns the query for all rows in the order of keys.
func (t table) selectRows(d sqldb.Dialect) string {
	var columns, order []string
	for _, c := range t.columns {
		columns = append(columns, c.read(d))
	}
	for _, i := range t.key {
		order = append(order, quote(t.columns[i].name))
	}
	return `SELECT ` + strings.Join(columns, ", ") + ` FROM ` + quote(t.name) + ` ORDER BY ` + strings.Join(order, ", ")
}

// quote quotes an identifier, which may be a keyword of SQL.
func quote(name string) string { return `"` + name + `"` }

func contains(all []string, one string) bool { return slices.Contains(all, one) }
