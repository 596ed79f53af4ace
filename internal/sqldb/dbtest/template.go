package dbtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"vigil/internal/sqldb"
)

// A Template is a migrated SQLite database. Packages with many tables copy it for each
// test, because migrating takes longer than most tests.
type Template struct {
	file func() ([]byte, error)
}

// NewTemplate returns a template with the tables that migrate creates.
func NewTemplate(migrate func(context.Context, *sqldb.DB) error) *Template {
	return &Template{sync.OnceValues(func() ([]byte, error) { return migrated(migrate) })}
}

// CopyTo copies the template to the file that a SQLite URL names. It does nothing if the
// file exists, or if the URL names a database of another kind.
func (m *Template) CopyTo(t testing.TB, dsn string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme != "sqlite" {
		return
	}
	path := filepath.FromSlash(u.Path)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	file, err := m.file()
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("copy the migrated database: %w", err))
	}
}

// migrated returns the file of a new SQLite database after a migration.
func migrated(migrate func(context.Context, *sqldb.DB) error) (file []byte, err error) {
	dir, err := os.MkdirTemp("", "vigil-template-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "template.db")
	ctx := context.Background()
	db, err := sqldb.Open(ctx, "sqlite://"+(&url.URL{Path: filepath.ToSlash(path)}).String(), sqldb.Options{Connections: 1})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(migrate(ctx, db), db.Close()); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the write-ahead log was not written to the database when it was closed")
	}
	return os.ReadFile(path)
}
