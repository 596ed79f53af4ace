// Package eventdb looks at the event database, counts its events, and writes
// our own into it.
//
// It is a package of its own because of the drivers: PostgreSQL, SQL Server and
// Oracle. The tables are those that reports and scripts for such servers read;
// where they are missing, they are created.
package eventdb

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// Secrets opens references to secrets.
type Secrets interface {
	Secret(ctx context.Context, ref desktop.SecretRef) (string, error)
}

// Database is the event database. It is safe for concurrent use; it connects
// when it is first used.
type Database struct {
	spec    desktop.EventDatabase
	dialect dialect
	secrets Secrets
	now     func() time.Time
	shown   *reach.Shown
	fate    reach.Fate

	// ReadOnly keeps the database from creating tables that are missing: they
	// count as empty. It is set before the first use.
	ReadOnly bool

	mu     sync.Mutex
	db     *sql.DB
	prefix string // as the tables have it
	absent bool   // there are no tables, and none may be created
	count  count
}

// count is the last count of events. Counting millions of rows takes long, so it
// is done the more seldom the longer it takes.
type count struct {
	events int64
	at     time.Time
	took   time.Duration
}

// countCost is the part of the time that counting may take: 1 in this many.
const countCost = 50

// prefixPattern is what a table prefix may be. It becomes part of an identifier.
var prefixPattern = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*)?$`)

// New returns an event database.
func New(spec desktop.EventDatabase, secrets Secrets, now func() time.Time) (*Database, error) {
	d, ok := dialects[spec.Type]
	if !ok {
		return nil, fmt.Errorf("open event database: no driver for %s", spec.Type)
	}
	if !prefixPattern.MatchString(spec.Prefix) {
		return nil, fmt.Errorf("open event database: %q cannot be a table prefix", spec.Prefix)
	}
	return &Database{spec: spec, dialect: d, secrets: secrets, now: now, shown: new(reach.Shown)}, nil
}

// Look counts the events.
func (d *Database) Look(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	events, err := d.countEvents(ctx)
	if err != nil {
		d.drop()
		return nil, d.shown.Certificate(), d.failure(err)
	}
	return desktop.EventDatabaseReading{EventCount: events, NoTables: d.absent}, d.shown.Certificate(), nil
}

func (d *Database) countEvents(ctx context.Context) (int64, error) {
	db, err := d.open(ctx)
	if err != nil {
		return 0, err
	}
	if d.absent {
		return 0, db.PingContext(ctx)
	}
	began := d.now()
	if began.Sub(d.count.at) < countCost*d.count.took {
		return d.count.events, db.PingContext(ctx)
	}
	var events int64
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+d.table("event")).Scan(&events); err != nil {
		return 0, fmt.Errorf("count events: %w", err)
	}
	d.count = count{events, began, d.now().Sub(began)}
	return events, nil
}

// open returns the connected database, with its tables in place.
func (d *Database) open(ctx context.Context) (*sql.DB, error) {
	d.fate.Forget()
	if d.db != nil {
		return d.db, nil
	}
	password, err := d.secrets.Secret(ctx, d.spec.Password)
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Refused, Reason: "the password for the event database cannot be had", Err: err}
	}
	var config *tls.Config
	if !d.spec.Plain {
		if config, err = reach.TLS(d.spec.Trust, d.spec.Server, d.now, d.shown); err != nil {
			return nil, err
		}
	}
	db, err := d.dialect.open(d.spec, password, config, reach.WatchedDialer{Fate: &d.fate})
	if err != nil {
		return nil, fmt.Errorf("open event database: %w", err)
	}
	db.SetMaxOpenConns(2)
	db.SetConnMaxIdleTime(5 * time.Minute)
	if err := d.settle(ctx, db); err != nil {
		_ = db.Close()
		return nil, err
	}
	d.db = db
	return db, nil
}

// settle finds out how the tables are spelt, and creates those that are missing
// unless the database is read only.
func (d *Database) settle(ctx context.Context, db *sql.DB) error {
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	d.absent = d.ReadOnly
	for _, prefix := range d.dialect.spellings(d.spec.Prefix) {
		d.prefix = prefix
		_, err := db.ExecContext(ctx, "SELECT 1 FROM "+d.table("event")+" WHERE 1 = 0")
		if err == nil {
			d.absent = false
			break
		}
		if why := d.dialect.explain(err); why.cause != missingTable {
			return fmt.Errorf("look for tables: %w", err)
		}
	}
	if d.ReadOnly {
		return nil
	}
	return d.createTables(ctx, db)
}

// Close lets go of the connections.
func (d *Database) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop()
}

func (d *Database) drop() {
	if d.db != nil {
		_ = d.db.Close() // nothing is lost that was not committed
		d.db = nil
	}
}

// failure says why the database could not be used.
func (d *Database) failure(err error) *desktop.Failure {
	if f, ok := errors.AsType[*desktop.Failure](err); ok {
		return f
	}
	if untrusted := d.shown.Err(); untrusted != nil {
		return reach.Failure(d.spec.Server, untrusted)
	}
	if why := d.dialect.explain(err); why.cause != "" {
		cause := why.cause
		if cause == missingTable {
			cause = desktop.Broken
		}
		return &desktop.Failure{Cause: cause, Reason: d.spec.Server + " " + why.words, Err: err}
	}
	if broke := d.fate.Err(); broke != nil {
		err = broke // drivers pass on the text at best
	}
	return reach.Failure(d.spec.Server, err)
}
