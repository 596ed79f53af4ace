// Package auditdb stores the audit log in the database.
package auditdb

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"vigil/internal/audit"
	"vigil/internal/fault"
	"vigil/internal/secret/secretdb"
	"vigil/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate migrates the tables to the current schema.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return db.Migrate(ctx, "audit", files)
}

// SealedColumns returns the columns to reseal when master keys are rotated.
func SealedColumns(db *sqldb.DB) []secretdb.Column {
	return []secretdb.Column{{DB: db, Table: audit.KeyTable, Row: "id", Field: "sealed"}}
}

// Store implements [audit.Store].
type Store struct{ db *sqldb.DB }

var _ audit.Store = (*Store)(nil)

// NewStore returns the audit log of a database.
func NewStore(db *sqldb.DB) *Store { return &Store{db} }

// chainEnds are the two ends of the chain.
type chainEnds struct {
	head   audit.Head
	anchor audit.Anchor
}

// readEnds returns the ends of the chain, which are zero before the first
// record.
func readEnds(tx *sqldb.Tx, lock string) (chainEnds, error) {
	e, err := sqldb.QueryOne(tx, func(r sqldb.Row) (e chainEnds, err error) {
		a := &e.anchor
		err = r.Scan(&e.head.Number, &e.head.Hash, &a.Number, &a.Hash, &a.Key, &a.Signature)
		return e, err
	}, `
		SELECT number, hash, anchor_number, anchor_hash, anchor_key_id, anchor_signature
		FROM audit_chain
		WHERE id = 1`+lock)
	if sqldb.Missing(err) {
		return chainEnds{}, nil
	}
	return e, err
}

// lockEnds returns the ends of the chain and locks their row, which it creates if there is
// none, until the transaction is over.
func lockEnds(tx *sqldb.Tx) (chainEnds, error) {
	_, err := tx.Exec(`
		INSERT INTO audit_chain (id, number, hash, anchor_number, anchor_hash, anchor_key_id, anchor_signature)
		VALUES (1, 0, $1, 0, $1, '', $1)
		ON CONFLICT DO NOTHING`, []byte{})
	if err != nil {
		return chainEnds{}, err
	}
	return readEnds(tx, tx.ForUpdate())
}

// Extend implements [audit.Store].
func (s *Store) Extend(ctx context.Context, build func(audit.Head) ([]audit.Entry, error)) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		e, err := lockEnds(tx)
		if err != nil {
			return err
		}
		entries, err := build(e.head)
		if err != nil {
			return err
		}
		return insert(tx, entries)
	})
}

// insert appends entries to the chain, whose ends must be locked.
func insert(tx *sqldb.Tx, entries []audit.Entry) error {
	_, err := tx.ExecEach(`
		INSERT INTO audit_record (number, at, org_id, actor, operation, outcome, body, prev, hash, key_id, signature)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, func(yield func([]any) bool) {
		for _, e := range entries {
			r := e.Record
			if !yield([]any{r.Number, sqldb.Millis(r.Time), r.Org, r.Actor, r.Operation, string(r.Outcome), string(e.Body),
				nonNil(e.Prev), nonNil(e.Hash), e.Key, nonNil(e.Signature)}) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	// If records were lost, their targets may still exist, and the new records reuse the numbers.
	if _, err := tx.Exec(`DELETE FROM audit_target WHERE number >= $1`, entries[0].Record.Number); err != nil {
		return err
	}
	_, err = tx.ExecEach(`INSERT INTO audit_target (number, org_id, target) VALUES ($1, $2, $3)`, func(yield func([]any) bool) {
		for _, e := range entries {
			for _, target := range e.Record.SearchTargets() {
				if !yield([]any{e.Record.Number, e.Record.Org, target}) {
					return
				}
			}
		}
	})
	if err != nil {
		return err
	}
	last := entries[len(entries)-1]
	_, err = tx.Exec(`UPDATE audit_chain SET number = $1, hash = $2 WHERE id = 1`, last.Record.Number, last.Hash)
	return err
}

// nonNil returns b, or an empty slice for nil, because the column is NOT NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Snapshot implements [audit.Store].
func (s *Store) Snapshot(ctx context.Context, f func(audit.Chain) error) error {
	return s.db.Read(ctx, func(tx *sqldb.Tx) error {
		e, err := readEnds(tx, "")
		if err != nil {
			return err
		}
		return f(audit.Chain{Anchor: e.anchor, Head: e.head, Entries: sqldb.Each(tx, scanEntry, `
			SELECT number, at, org_id, actor, operation, outcome, body, prev, hash, key_id, signature,
				(SELECT count(*) FROM audit_target t WHERE t.number = r.number AND t.org_id = r.org_id)
			FROM audit_record r
			WHERE number > $1
			ORDER BY number`, e.anchor.Number)})
	})
}

func scanEntry(r sqldb.Row) (e audit.Entry, err error) {
	var millis int64
	var body string
	rec := &e.Record
	err = r.Scan(&rec.Number, &millis, &rec.Org, &rec.Actor, &rec.Operation, &rec.Outcome, &body, &e.Prev, &e.Hash, &e.Key, &e.Signature, &e.Targets)
	rec.Time, e.Body = sqldb.Time(millis), []byte(body)
	return e, err
}

// Cut implements [audit.Store].
func (s *Store) Cut(ctx context.Context, before time.Time, keep int64, limit int, sign func(audit.Head) (audit.Anchor, error)) (n int64, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		e, err := lockEnds(tx)
		if err != nil {
			return err
		}
		through := int64(0)
		if !before.IsZero() {
			// Times need not ascend along the chain: the first record that is young enough
			// keeps all that follow it.
			through, err = sqldb.QueryOne(tx, sqldb.Scalar[int64], `
				SELECT coalesce(min(number), $2) - 1
				FROM audit_record
				WHERE at >= $1`, sqldb.Millis(before), e.head.Number)
			if err != nil {
				return err
			}
		}
		if keep > 0 {
			through = max(through, e.head.Number-keep)
		}
		// The newest record stays, and at most limit records are removed.
		through = min(through, e.head.Number-1, e.anchor.Number+int64(limit))
		n = through - e.anchor.Number
		if n <= 0 {
			n = 0
			return nil
		}
		head := audit.Head{Number: through}
		if err := tx.QueryRow(`SELECT hash FROM audit_record WHERE number = $1`, through).Scan(&head.Hash); err != nil {
			return fmt.Errorf("record %d: %w", through, err)
		}
		a, err := sign(head)
		if err != nil {
			return err
		}
		if _, err = tx.Exec(`DELETE FROM audit_target WHERE number <= $1`, through); err != nil {
			return err
		}
		if n, err = tx.Exec(`DELETE FROM audit_record WHERE number <= $1`, through); err != nil {
			return err
		}
		_, err = tx.Exec(`
			UPDATE audit_chain
			SET anchor_number = $1, anchor_hash = $2, anchor_key_id = $3, anchor_signature = $4
			WHERE id = 1`, a.Number, a.Hash, a.Key, a.Signature)
		return err
	})
	return n, err
}

// Head implements [audit.Store].
func (s *Store) Head(ctx context.Context) (audit.Head, error) {
	var e chainEnds
	err := s.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		e, err = readEnds(tx, "")
		return err
	})
	return e.head, err
}

// Tally implements [audit.Store].
func (s *Store) Tally(ctx context.Context) (t audit.Tally, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		e, err := readEnds(tx, "")
		if err != nil {
			return err
		}
		t = audit.Tally{Anchor: e.anchor.Head, Head: e.head, Last: e.anchor.Head}
		t.Records, err = sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT count(*) FROM audit_record WHERE number > $1`, e.anchor.Number)
		if err != nil || t.Records == 0 {
			return err
		}
		return tx.QueryRow(`SELECT number, hash FROM audit_record ORDER BY number DESC LIMIT 1`).Scan(&t.Last.Number, &t.Last.Hash)
	})
	return t, err
}

// Reanchor implements [audit.Store].
func (s *Store) Reanchor(ctx context.Context, sign func(audit.Head) (audit.Anchor, error)) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		e, err := lockEnds(tx)
		if err != nil {
			return err
		}
		a, err := sign(e.head)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`
			UPDATE audit_chain
			SET anchor_number = $1, anchor_hash = $2, anchor_key_id = $3, anchor_signature = $4
			WHERE id = 1`, a.Number, a.Hash, a.Key, a.Signature)
		return err
	})
}

// TimeBefore implements [audit.Store].
func (s *Store) TimeBefore(ctx context.Context, newer int64) (t time.Time, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		e, err := readEnds(tx, "")
		if err != nil {
			return err
		}
		millis, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT at FROM audit_record WHERE number = $1`, e.head.Number-newer)
		if sqldb.Missing(err) {
			return nil
		}
		t = sqldb.Time(millis)
		return err
	})
	return t, err
}

// Keys implements [audit.Store].
func (s *Store) Keys(ctx context.Context) (keys []audit.Key, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		keys, err = sqldb.Query(tx, func(r sqldb.Row) (k audit.Key, err error) {
			var created int64
			err = r.Scan(&k.ID, &k.Sealed, &created)
			k.CreatedAt = sqldb.Time(created)
			return k, err
		}, `SELECT id, sealed, created_at FROM audit_key ORDER BY number`)
		return err
	})
	return keys, err
}

// AddKey implements [audit.Store].
func (s *Store) AddKey(ctx context.Context, k audit.Key) error { return s.addKey(ctx, k, false) }

// AddFirstKey implements [audit.Store].
func (s *Store) AddFirstKey(ctx context.Context, k audit.Key) error { return s.addKey(ctx, k, true) }

// addKey fails with fault.Stale if the key must be the first and is not.
func (s *Store) addKey(ctx context.Context, k audit.Key, mustBeFirst bool) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock(audit.KeyTable); err != nil {
			return err
		}
		number, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT coalesce(max(number), 0) + 1 FROM audit_key`)
		if err != nil {
			return err
		}
		if mustBeFirst && number != 1 {
			return fault.New(fault.Stale, "an audit key already exists")
		}
		_, err = tx.Exec(`
			INSERT INTO audit_key (id, number, sealed, created_at)
			VALUES ($1, $2, $3, $4)`, k.ID, number, k.Sealed, sqldb.Millis(k.CreatedAt))
		return err
	})
}
