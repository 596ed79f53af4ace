// Package idempotency stores the Idempotency-Key of a request in the transaction of the
// change that the request makes. A client whose response was lost can therefore find out
// whether its request was executed.
package idempotency

import (
	"context"
	"embed"
	"io/fs"
	"sync/atomic"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
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
	return db.Migrate(ctx, "idempotency", files)
}

// Kept is how long keys are stored.
const Kept = 24 * time.Hour

// pruneEvery is the number of stored answers after which expired keys are deleted.
const pruneEvery = 200

// Store implements [httpapi.Idempotency].
type Store struct {
	db     *sqldb.DB
	now    func() time.Time
	realm  string       // which of the two servers this is, because both can use one database
	stored atomic.Int64 // number of stored answers
}

var _ httpapi.Idempotency = (*Store)(nil)

// New returns the store of one server.
func New(db *sqldb.DB, realm string, now func() time.Time) *Store {
	return &Store{db: db, realm: realm, now: now}
}

// Find implements [httpapi.Idempotency].
func (s *Store) Find(ctx context.Context, owner, key string) (past httpapi.PastRequest, found bool, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		past, err = sqldb.QueryOne(tx, scanPast, `
			SELECT fingerprint, request_id, status, location, etag, content_type, body
			FROM idempotency_key
			WHERE realm = $1 AND owner = $2 AND key = $3 AND created_at >= $4`, s.realm, owner, key, s.oldest())
		return err
	})
	if sqldb.Missing(err) {
		return past, false, nil
	}
	return past, err == nil, err
}

func scanPast(r sqldb.Row) (p httpapi.PastRequest, err error) {
	var a httpapi.Answer
	// Status 0 means that the answer was not stored: see Attach.
	if err = r.Scan(&p.Fingerprint, &p.RequestID, &a.Status, &a.Location, &a.ETag, &a.ContentType, &a.Body); err == nil && a.Status != 0 {
		p.Answer = &a
	}
	return p, err
}

func (s *Store) oldest() int64 { return sqldb.Millis(s.now().Add(-Kept)) }

// Attach implements [httpapi.Idempotency].
func (s *Store) Attach(ctx context.Context, k httpapi.RequestKey) context.Context {
	var committed atomic.Bool
	return sqldb.WithCommitHook(ctx, func(tx *sqldb.Tx) error {
		if committed.Load() || !tx.On(s.db) {
			return nil
		}
		// Overwrite a key that has expired but was not deleted yet.
		n, err := tx.Exec(`
			INSERT INTO idempotency_key (realm, owner, key, fingerprint, request_id, created_at, status, location, etag, content_type, body)
			VALUES ($1, $2, $3, $4, $5, $6, 0, '', '', '', $7)
			ON CONFLICT (realm, owner, key) DO UPDATE
			SET fingerprint = excluded.fingerprint, request_id = excluded.request_id, created_at = excluded.created_at,
				status = 0, location = '', etag = '', content_type = '', body = excluded.body
			WHERE idempotency_key.created_at < $8`,
			s.realm, k.Owner, k.Key, k.Fingerprint, k.RequestID, sqldb.Millis(s.now()), []byte{}, s.oldest())
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Conflict, "another request with the same Idempotency-Key is being executed, or was")
		}
		tx.AfterCommit(func() { committed.Store(true) })
		return nil
	})
}

// StoreAnswer implements [httpapi.Idempotency].
func (s *Store) StoreAnswer(ctx context.Context, owner, key string, a httpapi.Answer) error {
	body := a.Body
	if body == nil {
		body = []byte{}
	}
	return s.db.Write(sqldb.WithoutCommitHook(ctx), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			UPDATE idempotency_key
			SET status = $4, location = $5, etag = $6, content_type = $7, body = $8
			WHERE realm = $1 AND owner = $2 AND key = $3`, s.realm, owner, key, a.Status, a.Location, a.ETag, a.ContentType, body)
		// The first answer of a process also deletes expired keys: some processes store few answers.
		if err != nil || s.stored.Add(1)%pruneEvery != 1 {
			return err
		}
		_, err = tx.Exec(`DELETE FROM idempotency_key WHERE created_at < $1`, s.oldest())
		return err
	})
}
