// Package eventdb probes the event database, counts its events, and writes
// events into it.
//
// It is a separate package because of the drivers for PostgreSQL, SQL Server
// and Oracle. The tables have the schema that existing reports and scripts for
// event databases read. Missing tables are created.
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

// Secrets resolves references to secrets.
type Secrets interface {
	Secret(ctx context.Context, ref desktop.SecretRef) (string, error)
}

// Database is the event database. It is safe for concurrent use and connects
// when it is first used.
type Database struct {
	spec     desktop.EventDatabase
	dialect  dialect
	secrets  Secrets
	now      func() time.Time
	peerCert *reach.PeerCertificate
	firstErr reach.FirstError

	// ReadOnly prevents the creation of missing tables: they count as empty. It
	// must be set before the first use.
	ReadOnly bool

	mu       sync.Mutex
	db       *sql.DB
	password string           // of the last attempt to connect
	refused  *desktop.Failure // the failure of that attempt, if the server refused the login
	prefix   string           // in the spelling of the tables
	absent   bool             // the tables are missing and must not be created
	closed   bool
	count    count
}

// count is the last count of events. Counting millions of rows is slow, so the
// interval grows with the duration of the count.
type count struct {
	events    int64
	checkedAt time.Time
	duration  time.Duration
}

// countCost limits the time spent on counting to 1/countCost.
const countCost = 50

// prefixPattern matches valid table prefixes. The prefix becomes part of an
// identifier.
var prefixPattern = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_]*)?$`)

// New returns an event database.
func New(spec desktop.EventDatabase, secrets Secrets, now func() time.Time) (*Database, error) {
	d, ok := dialects[spec.Type]
	if !ok {
		return nil, fmt.Errorf("open event database: no driver for %s", spec.Type)
	}
	if !prefixPattern.MatchString(spec.Prefix) {
		return nil, fmt.Errorf("open event database: %q is not a valid table prefix", spec.Prefix)
	}
	return &Database{spec: spec, dialect: d, secrets: secrets, now: now, peerCert: new(reach.PeerCertificate)}, nil
}

// Probe counts the events. Unlike Write, it logs in again after a refused login: the
// scheduler probes rarely then.
func (d *Database) Probe(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	events, err := d.countEvents(ctx)
	if err != nil {
		return nil, d.peerCert.Certificate(), d.fail(err)
	}
	return desktop.EventDatabaseReading{EventCount: events, NoTables: d.absent}, d.peerCert.Certificate(), nil
}

func (d *Database) countEvents(ctx context.Context) (int64, error) {
	db, err := d.open(ctx)
	if err != nil {
		return 0, err
	}
	if d.absent {
		return 0, db.PingContext(ctx)
	}
	start := d.now()
	if start.Sub(d.count.checkedAt) < countCost*d.count.duration {
		return d.count.events, db.PingContext(ctx)
	}
	var events int64
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+d.table("event")).Scan(&events); err != nil {
		return 0, fmt.Errorf("count events: %w", err)
	}
	d.count = count{events, start, d.now().Sub(start)}
	return events, nil
}

// open returns the connected database. It creates missing tables.
func (d *Database) open(ctx context.Context) (*sql.DB, error) {
	d.firstErr.Clear()
	d.peerCert.ClearErr()
	if d.closed { // a probe or a write that waited for the lock must not open connections after Close
		return nil, errors.New("the event database is closed")
	}
	if d.db != nil {
		return d.db, nil
	}
	password, err := d.secrets.Secret(ctx, d.spec.Password)
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Refused, Reason: "the password for the event database cannot be read", Err: err}
	}
	d.password = password
	var config *tls.Config
	if !d.spec.Plain {
		if config, err = reach.TLS(d.spec.Trust, d.spec.Server, d.now, d.peerCert); err != nil {
			return nil, err
		}
	}
	db, err := d.dialect.open(d.spec, password, config, reach.WatchedDialer{FirstError: &d.firstErr})
	if err != nil {
		return nil, fmt.Errorf("open event database: %w", err)
	}
	db.SetMaxOpenConns(2)
	db.SetConnMaxIdleTime(5 * time.Minute)
	if err := d.findTables(ctx, db); err != nil {
		_ = db.Close()
		return nil, err
	}
	d.db = db
	return db, nil
}

// findTables finds the spelling of the tables, and creates missing ones unless the
// database is read-only.
func (d *Database) findTables(ctx context.Context, db *sql.DB) error {
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	d.refused = nil
	found, err := d.findPrefix(ctx, db)
	if err != nil {
		return fmt.Errorf("look for tables: %w", err)
	}
	d.absent = d.ReadOnly && !found
	if d.ReadOnly {
		return nil
	}
	return d.createTables(ctx, db)
}

// findPrefix sets d.prefix to the spelling with which the tables exist. If there are no
// tables, d.prefix is the last spelling, with which they are created.
func (d *Database) findPrefix(ctx context.Context, db *sql.DB) (found bool, err error) {
	for _, prefix := range d.dialect.prefixSpellings(d.spec.Prefix) {
		d.prefix = prefix
		err := d.findTable(ctx, db, "event")
		if err == nil {
			return true, nil
		}
		if d.dialect.explain(err).cause != missingTable {
			return false, err
		}
	}
	return false, nil
}

// Close closes the connections. The database cannot be used afterwards.
func (d *Database) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.disconnect()
}

// disconnect closes the connections. The next use opens new ones.
func (d *Database) disconnect() {
	if d.db != nil {
		_ = d.db.Close() // no transaction is open
		d.db = nil
	}
}

// fail closes the connections after an error, and classifies it.
func (d *Database) fail(err error) *desktop.Failure {
	d.disconnect()
	f := d.failure(err)
	if d.dialect.explain(err).cause == desktop.Refused {
		d.refused = f
	}
	return f
}

// refusal returns the failure of the last attempt to connect if the server refused the
// login and the password is still the same.
func (d *Database) refusal(ctx context.Context) *desktop.Failure {
	if d.refused == nil {
		return nil
	}
	if password, err := d.secrets.Secret(ctx, d.spec.Password); err != nil || password != d.password {
		return nil // open reports an unreadable password
	}
	return d.refused
}

// failure classifies why the database could not be used.
func (d *Database) failure(err error) *desktop.Failure {
	if f, ok := errors.AsType[*desktop.Failure](err); ok {
		return f
	}
	if untrusted := d.peerCert.Err(); untrusted != nil {
		return reach.Failure(d.spec.Server, untrusted)
	}
	if explanation := d.dialect.explain(err); explanation.cause != "" {
		cause := explanation.cause
		if cause == missingTable {
			cause = desktop.Broken
		}
		return &desktop.Failure{Cause: cause, Reason: d.spec.Server + " " + explanation.predicate, Err: err}
	}
	if broke := d.firstErr.Err(); broke != nil {
		err = broke // drivers keep only the text of the error
	}
	return reach.Failure(d.spec.Server, err)
}
