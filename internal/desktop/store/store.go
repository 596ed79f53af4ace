// Package store keeps the desktop server's state in SQLite or PostgreSQL:
// sessions, instant clone accounts, the history of statuses, agents and their
// certificates, alert rules and alerts.
//
// One SQL text serves both; package sqldb says how it is written. Secret values
// are sealed before they reach the database and bound to the place they are
// stored in.
package store

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/session"
	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/secret/secretdb"
	"vigil/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the tables of the desktop server up to date.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx, "desktop", files); err != nil {
		return err
	}
	return name(ctx, db)
}

// A Sealer encrypts values for one cell of the database and opens them there.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plain []byte) ([]byte, error)
	Open(ctx context.Context, c secret.Cell, sealed []byte) ([]byte, error)
}

// Store implements the stores of the desktop server.
type Store struct {
	db  *sqldb.DB
	box Sealer
	now func() time.Time
}

var (
	_ desktop.AccountStore = (*Store)(nil)
	_ desktop.HistoryStore = (*Store)(nil)
	_ desktop.SampleStore  = (*Store)(nil)
	_ session.Store        = (*Store)(nil)
	_ heartbeat.Store      = (*Store)(nil)
	_ alert.Store          = (*Store)(nil)
)

// New returns a store over a database whose tables are up to date.
func New(db *sqldb.DB, box Sealer, now func() time.Time) *Store { return &Store{db, box, now} }

// The tables with sealed values, all in a column of the same name.
const (
	accountTable   = "desktop_clone_account"
	authorityTable = "desktop_authority"
	ruleTable      = "desktop_alert_rule"
	vaultTable     = "desktop_vault"
	sealedField    = "sealed"
)

// SealedColumns lists what must be resealed when keys are rotated.
func SealedColumns(db *sqldb.DB) []secretdb.Column {
	var all []secretdb.Column
	for _, table := range []string{accountTable, authorityTable, ruleTable, vaultTable} {
		all = append(all, secretdb.Column{DB: db, Table: table, Row: "id", Field: sealedField})
	}
	return all
}

func cell(table, row string) secret.Cell {
	return secret.Cell{Table: table, Row: row, Field: sealedField}
}

// millis stores a time; the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return sqldb.Millis(t)
}

// moment is what millis stored.
type moment struct{ to *time.Time }

// Scan implements [database/sql.Scanner].
func (m moment) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", v)
	}
	*m.to = time.Time{}
	if n != 0 {
		*m.to = sqldb.Time(n)
	}
	return nil
}

// toJSON encodes a value of our own, which cannot fail.
func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: encode %T: %v", v, err))
	}
	return string(text)
}

// fromJSON decodes a column that toJSON wrote.
func fromJSON(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("decode a column into %T: %w", into, err)
	}
	return nil
}

// missing turns "no row" into a fault that names what is not there.
func missing(err error, what string) error {
	if sqldb.Missing(err) {
		return fault.New(fault.NotFound, "there is no such %s", what)
	}
	return err
}

// changed turns "no row was changed" into the same fault.
func changed(n int64, err error, what string) error {
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "there is no such %s", what)
	}
	return err
}

// exec runs one statement in a transaction of its own.
func (s *Store) exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err = tx.Exec(text, args...)
		return err
	})
	return n, err
}

// list reads rows in a transaction of its own.
func list[T any](ctx context.Context, s *Store, scan func(sqldb.Row) (T, error), text string, args ...any) (out []T, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		out, err = sqldb.Query(tx, scan, text, args...)
		return err
	})
	return out, err
}

// one reads a row in a transaction of its own.
func one[T any](ctx context.Context, s *Store, what string, scan func(sqldb.Row) (T, error), text string, args ...any) (out T, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		out, err = sqldb.QueryOne(tx, scan, text, args...)
		return missing(err, what)
	})
	return out, err
}
