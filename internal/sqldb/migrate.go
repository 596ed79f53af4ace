package sqldb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// A migration is one numbered SQL file.
type migration struct {
	number   int
	name     string
	text     string
	checksum string
	shared   bool // for both dialects
}

// MigrationTable is the table of the applied migrations.
const MigrationTable = "schema_migration"

// ErrPending reports that a database that was opened read-only needs migrations.
var ErrPending = errors.New("the tables are not up to date")

// Migrate applies the pending migrations of a namespace. The files in fsys are named
// 0001_words.sql, or 0001_words.sqlite.sql and 0001_words.postgres.sql if the dialects
// differ, and numbered without gaps.
//
// Each migration is applied once, in order, in its own transaction, under a lock, so
// that several processes may start at the same time. Migrate fails if a file was
// changed after it was applied, and if the database has migrations that this program
// does not have.
func (db *DB) Migrate(ctx context.Context, space string, fsys fs.FS) error {
	all, err := readMigrations(fsys, db.dialect)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", space, err)
	}
	done := 0
	if db.opts.ReadOnly {
		exists, err := db.HasTable(ctx, "schema_migration")
		if err != nil {
			return fmt.Errorf("migrate %s: %w", space, err)
		}
		if !exists {
			return fmt.Errorf("migrate %s: %w", space, ErrPending)
		}
	}
	err = db.Exclusive(ctx, func(tx *Tx) error {
		done, err = checkApplied(tx, space, all)
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate %s: %w", space, err)
	}
	if db.opts.ReadOnly && done < len(all) {
		return fmt.Errorf("migrate %s: %w: %s", space, ErrPending, all[done].name)
	}
	for _, m := range all[done:] {
		if err := db.Exclusive(ctx, func(tx *Tx) error { return m.apply(tx, space, all) }); err != nil {
			return fmt.Errorf("migrate %s: %s: %w", space, m.name, err)
		}
	}
	return nil
}

// Exclusive is Write under the lock of migrations: no other process changes the schema
// meanwhile. Its time limit is an hour, because changing a large table takes long.
func (db *DB) Exclusive(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, time.Hour, exclusive, func(tx *Tx) error {
		if err := tx.Lock("schema_migration"); err != nil {
			return err
		}
		return fn(tx)
	})
}

var migrationName = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+(?:\.(sqlite|postgres))?\.sql$`)

// readMigrations returns the migrations for one dialect in order.
func readMigrations(fsys fs.FS, dialect Dialect) ([]migration, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, e := range entries {
		parts := migrationName.FindStringSubmatch(e.Name())
		if parts == nil {
			return nil, fmt.Errorf("%s is not the name of a migration: name it like 0001_words.sql", e.Name())
		}
		if parts[2] != "" && parts[2] != string(dialect) {
			continue
		}
		text, err := fs.ReadFile(fsys, e.Name())
		if err != nil {
			return nil, err
		}
		number, _ := strconv.Atoi(parts[1]) // the expression matched four digits
		sum := sha256.Sum256(text)
		all = append(all, migration{
			number: number, name: e.Name(), text: string(text),
			checksum: hex.EncodeToString(sum[:]), shared: parts[2] == "",
		})
	}
	slices.SortFunc(all, func(a, b migration) int { return a.number - b.number })
	for i, m := range all {
		if m.number != i+1 {
			return nil, fmt.Errorf("%s should have the number %04d", m.name, i+1)
		}
	}
	return all, nil
}

// checkApplied compares the applied migrations with those of the program and returns
// how many were applied.
func checkApplied(tx *Tx, space string, all []migration) (int, error) {
	if !tx.db.opts.ReadOnly {
		_, err := tx.Exec(`
		CREATE TABLE IF NOT EXISTS schema_migration (
			space      TEXT   NOT NULL,
			number     BIGINT NOT NULL,
			name       TEXT   NOT NULL,
			checksum   TEXT   NOT NULL,
			applied_at BIGINT NOT NULL,
			PRIMARY KEY (space, number)
		)`)
		if err != nil {
			return 0, err
		}
	}
	applied, err := Query(tx, func(r Row) (m migration, err error) {
		err = r.Scan(&m.number, &m.name, &m.checksum)
		return m, err
	}, `
		SELECT number, name, checksum
		FROM schema_migration
		WHERE space = $1
		ORDER BY number`, space)
	if err != nil {
		return 0, err
	}
	for i, a := range applied {
		if i >= len(all) {
			return 0, fmt.Errorf("the database was written by a newer version of this program: it holds %s, and this version has %d migrations; install the newer version",
				applied[len(applied)-1].name, len(all))
		}
		if a.checksum != all[i].checksum {
			return 0, fmt.Errorf("%s was applied as %s with other contents: a migration must not be changed once it was applied", all[i].name, a.name)
		}
	}
	return len(applied), nil
}

// apply applies m unless another process has done so in the meantime.
func (m migration) apply(tx *Tx, space string, all []migration) error {
	done, err := checkApplied(tx, space, all)
	if err != nil || done >= m.number {
		return err
	}
	text := m.text
	if m.shared && tx.Dialect() == Postgres {
		text = postgresTypes(text)
	}
	if _, err := tx.Exec(text); err != nil {
		return err
	}
	_, err = tx.Exec(`
		INSERT INTO schema_migration (space, number, name, checksum, applied_at)
		VALUES ($1, $2, $3, $4, $5)`, space, m.number, m.name, m.checksum, Millis(time.Now()))
	return err
}

// sqlToken matches type names, and comments and quoted texts, which may contain them.
var sqlToken = regexp.MustCompile(`--[^\n]*|'[^']*'|"[^"]*"|\b(?:TEXT|BLOB)\b`)

// postgresTypes rewrites the types of a shared migration for PostgreSQL.
func postgresTypes(text string) string {
	return sqlToken.ReplaceAllStringFunc(text, func(token string) string {
		switch token {
		case "TEXT":
			return `TEXT COLLATE "C"`
		case "BLOB":
			return "BYTEA"
		}
		return token
	})
}
