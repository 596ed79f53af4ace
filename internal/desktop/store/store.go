// Package store stores the desktop server's state in SQLite or PostgreSQL:
// sessions, instant clone accounts, the history of statuses, agents and their
// certificates, alert rules and alerts.
//
// The SQL is the same for both databases; package sqldb describes its dialect. Secret
// values are encrypted before they reach the database and bound to their cell.
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

// Migrate migrates the tables of the desktop server to the current schema.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx, "desktop", files); err != nil {
		return err
	}
	return createRevision(ctx, db)
}

// A Sealer encrypts values for one cell of the database and decrypts them.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plaintext []byte) ([]byte, error)
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

// New returns a store over a database with migrated tables.
func New(db *sqldb.DB, box Sealer, now func() time.Time) *Store { return &Store{db, box, now} }

// The tables with sealed values, all in a column of the same name.
const (
	accountTable   = "desktop_clone_account"
	authorityTable = "desktop_authority"
	ruleTable      = "desktop_alert_rule"
	vaultTable     = "desktop_vault"
	sealedField    = "sealed"
)

// SealedColumns returns the columns to reseal when master keys are rotated.
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

// millis converts a time to milliseconds; the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return sqldb.Millis(t)
}

// moment scans a value of millis into a time.
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

// toJSON encodes a value of the package's own types, which cannot fail.
func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: encode %T: %v", v, err))
	}
	return string(text)
}

// fromJSON decodes a column that toJSON wrote.
func fromJSON(text string, target any) error {
	if err := json.Unmarshal([]byte(text), target); err != nil {
		return fmt.Errorf("decode a column into %T: %w", target, err)
	}
	return nil
}

// notFoundIfMissing converts "no row" to a fault that names the missing object.
func notFoundIfMissing(err error, what string) error {
	if sqldb.Missing(err) {
		return fault.New(fault.NotFound, "there is no such %s", what)
	}
	return err
}

// requireChanged converts "no row was changed" to the same fault.
func requireChanged(n int64, err error, what string) error {
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "there is no such %s", what)
	}
	return err
}

// exec runs one statement in its own transaction.
func (s *Store) exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err = tx.Exec(text, args...)
		return err
	})
	return n, err
}

// list reads rows in its own transaction.
func list[T any](ctx context.Context, s *Store, scan func(sqldb.Row) (T, error), text string, args ...any) (out []T, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		out, err = sqldb.Query(tx, scan, text, args...)
		return err
	})
	return out, err
}

// one reads a row in its own transaction.
func one[T any](ctx context.Context, s *Store, what string, scan func(sqldb.Row) (T, error), text string, args ...any) (out T, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		out, err = sqldb.QueryOne(tx, scan, text, args...)
		return notFoundIfMissing(err, what)
	})
	return out, err
}
