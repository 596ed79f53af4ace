package secretdb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// Column is a column of sealed values, for [secret.Box.ResealAll]. The values
// must have been sealed for the cell Cell{Org: <value of Org>, Table: Table,
// Row: <value of Row>, Field: Field}.
//
// The names are constants of the program, never input. NULL values are skipped.
type Column struct {
	DB    *sqldb.DB
	Table string
	Org   string // column of the organisation; empty if there is none
	Row   string // column that, with Org, is the primary key
	Field string // column of the sealed value
}

// Name returns "table.field".
func (c Column) Name() string { return c.Table + "." + c.Field }

// item is one sealed value and its key.
type item struct {
	org, row string
	sealed   []byte
}

// Reseal implements [secret.Column].
func (c Column) Reseal(ctx context.Context, r secret.Resealer, after string, limit int) (string, int, error) {
	items, err := c.read(ctx, after, limit)
	if err != nil {
		return "", 0, fmt.Errorf("read: %w", err)
	}
	// Sealing may read the keyset from the database, so it must not run in a
	// transaction.
	var updates [][]any
	for _, it := range items {
		fresh, changed, err := r.Reseal(ctx, secret.Cell{Org: it.org, Table: c.Table, Row: it.row, Field: c.Field}, it.sealed)
		if err != nil {
			return "", 0, fmt.Errorf("row %s: %w", it.row, err)
		}
		if changed {
			updates = append(updates, []any{fresh, it.row, it.sealed, it.org})
		}
	}
	changed, err := c.write(ctx, updates)
	if err != nil {
		return "", 0, fmt.Errorf("write: %w", err)
	}
	if len(items) < limit {
		return "", changed, nil
	}
	last := items[len(items)-1]
	position, err := json.Marshal([]string{last.org, last.row})
	return string(position), changed, err
}

// org returns the SQL expression for the organisation.
func (c Column) org() string {
	if c.Org == "" {
		return "''"
	}
	return c.Org
}

func (c Column) read(ctx context.Context, after string, limit int) (items []item, err error) {
	from := []string{"", ""}
	if after != "" {
		if err := json.Unmarshal([]byte(after), &from); err != nil || len(from) != 2 {
			return nil, fmt.Errorf("place %q is not valid", after)
		}
	}
	where, order := "("+c.Org+", "+c.Row+") > ($1, $2)", c.Org+", "+c.Row
	if c.Org == "" {
		// The condition on $1 is always true; PostgreSQL needs a use of every parameter.
		where, order = "CAST($1 AS TEXT) = '' AND "+c.Row+" > $2", c.Row
	}
	err = c.DB.Read(ctx, func(tx *sqldb.Tx) error {
		items, err = sqldb.Query(tx, func(r sqldb.Row) (it item, err error) {
			err = r.Scan(&it.org, &it.row, &it.sealed)
			return it, err
		}, `
			SELECT `+c.org()+`, `+c.Row+`, `+c.Field+`
			FROM `+c.Table+`
			WHERE `+where+`
			  AND `+c.Field+` IS NOT NULL
			ORDER BY `+order+`
			LIMIT $3`, from[0], from[1], limit)
		return err
	})
	return items, err
}

// write stores resealed values, except where the old value was replaced
// meanwhile. An update holds the new value, the row, the old value and the
// organisation.
func (c Column) write(ctx context.Context, updates [][]any) (changed int, err error) {
	if len(updates) == 0 {
		return 0, nil
	}
	err = c.DB.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.ExecEach(`
			UPDATE `+c.Table+`
			SET `+c.Field+` = $1
			WHERE `+c.Row+` = $2
			  AND `+c.Field+` = $3
			  AND `+c.org()+` = $4`, slices.Values(updates))
		changed = int(n)
		return err
	})
	return changed, err
}
