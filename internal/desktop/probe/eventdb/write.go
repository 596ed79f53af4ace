package eventdb

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"vigil/internal/desktop"
)

// The event tables. Each list names the table of recent events, which database
// administrators trim, and then the table of all events.
var (
	eventTables = []string{"event", "event_historical"}
	dataTables  = []string{"event_data", "event_data_historical"}
)

// createTables creates the tables that are missing. It sends no CREATE statement for a table that
// exists: the database server may refuse the statement if the user has rights on the event tables only.
func (d *Database) createTables(ctx context.Context, db *sql.DB) error {
	create := func(names []string, columns string) error {
		for _, name := range names {
			if err := d.findTable(ctx, db, name); d.dialect.explain(err).cause != missingTable {
				continue // other errors are reported when the table is used
			}
			if _, err := db.ExecContext(ctx, d.dialect.create(d.table(name), columns)); err != nil {
				return fmt.Errorf("create table %s: %w", name, err)
			}
		}
		return nil
	}
	if err := create(eventTables, d.dialect.eventColumns()); err != nil {
		return err
	}
	return create(dataTables, d.dialect.dataColumns())
}

// findTable fails if a table is missing or cannot be read.
func (d *Database) findTable(ctx context.Context, db *sql.DB, name string) error {
	_, err := db.ExecContext(ctx, "SELECT 1 FROM "+d.table(name)+" WHERE 1 = 0")
	return err
}

// Write writes events atomically. Its error is a *desktop.Failure. After a refused login,
// it fails without logging in until a probe has succeeded or the password has changed:
// writes are repeated so often that they would lock the account.
func (d *Database) Write(ctx context.Context, events []desktop.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if refused := d.refusal(ctx); refused != nil {
		return refused
	}
	if err := d.write(ctx, events); err != nil {
		return d.fail(err)
	}
	return nil
}

func (d *Database) write(ctx context.Context, events []desktop.Event) error {
	db, err := d.open(ctx)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // has no effect after a commit
	next, err := d.nextID(ctx, tx)
	if err != nil {
		return err
	}
	if next > math.MaxInt32-int64(len(events)) { // in most databases, EventID is a 32-bit integer
		return &desktop.Failure{Cause: desktop.Broken, Reason: d.spec.Server + " has no event numbers left"}
	}
	for i, e := range events {
		if err := d.insert(ctx, tx, next+int64(i), e); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// nextID returns the first free event number. It locks the table against other
// writers, because the tables may have been created by another product without
// automatic numbering.
func (d *Database) nextID(ctx context.Context, tx *sql.Tx) (int64, error) {
	if _, err := tx.ExecContext(ctx, d.dialect.lock(d.table("event_historical"))); err != nil {
		return 0, fmt.Errorf("lock events: %w", err)
	}
	var last int64
	for _, name := range eventTables {
		var highest int64
		if err := tx.QueryRowContext(ctx, "SELECT COALESCE(MAX(EventID), 0) FROM "+d.table(name)).Scan(&highest); err != nil {
			return 0, fmt.Errorf("find last event: %w", err)
		}
		last = max(last, highest)
	}
	return last + 1, nil
}

func (d *Database) insert(ctx context.Context, tx *sql.Tx, id int64, e desktop.Event) error {
	for _, name := range eventTables {
		_, err := tx.ExecContext(ctx, "INSERT INTO "+d.table(name)+
			" (EventID, Time, Acknowledged, EventType, Severity, Module, ModuleAndEventText, Node, UserSID) VALUES ("+d.dialect.parameters(9)+")",
			id, e.At.UTC(), 0, e.Type, string(e.Severity), e.Module, d.dialect.clip(e.Text), d.dialect.clip(e.Node), nullable(e.UserSID))
		if err != nil {
			return fmt.Errorf("insert event: %w", err)
		}
	}
	for _, name := range dataTables {
		for _, key := range slices.Sorted(maps.Keys(e.Data)) {
			_, err := tx.ExecContext(ctx, "INSERT INTO "+d.table(name)+" (EventID, Name, StrValue) VALUES ("+d.dialect.parameters(3)+")",
				id, d.dialect.clip(key), nullable(d.dialect.clip(e.Data[key])))
			if err != nil {
				return fmt.Errorf("insert event data: %w", err)
			}
		}
	}
	return nil
}

// columnSize is the length of text columns, in the units of dialect.length.
const columnSize = 512

// clip truncates a text to its column's length. It replaces invalid UTF-8 by U+FFFD and
// removes NUL characters, which PostgreSQL refuses.
func (d dialect) clip(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	const ellipsis = '…'
	size := 0 // of the text so far, as the database counts
	kept := 0 // bytes of the longest beginning that fits together with an ellipsis
	for i, r := range text {
		size += d.length(r)
		if size <= columnSize-d.length(ellipsis) {
			kept = i + utf8.RuneLen(r)
		}
	}
	if size <= columnSize {
		return text
	}
	return text[:kept] + string(ellipsis)
}

// nullable returns the text, or NULL for none.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}
