package websession

import (
	"context"
	"embed"
	"io/fs"
	"time"

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
	return db.Migrate(ctx, "web_session", files)
}

// storedSession is a session with the hashes of its cookie's secrets.
type storedSession struct {
	session                   Session
	secret, pending, previous []byte
	rotatedAt                 time.Time
	pendingAt, previousUntil  time.Time
}

const columns = `id, org, subject, grant_id, name, method, secret, rotated_at, pending, pending_at, previous, previous_until,
	created_at, used_at, ends_at, ended_at, address, agent`

func scan(r sqldb.Row) (s storedSession, err error) {
	var rotated, created, used, expires int64
	var pending, until, ended *int64
	x := &s.session
	err = r.Scan(&x.ID, &x.Org, &x.Subject, &x.Grant, &x.Name, &x.Method, &s.secret, &rotated, &s.pending, &pending, &s.previous, &until,
		&created, &used, &expires, &ended, &x.Address, &x.Agent)
	s.rotatedAt, s.pendingAt, s.previousUntil = sqldb.Time(rotated), timeOf(pending), timeOf(until)
	x.CreatedAt, x.UsedAt, x.EndsAt, x.EndedAt = sqldb.Time(created), sqldb.Time(used), sqldb.Time(expires), timeOf(ended)
	return s, err
}

func timeOf(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return sqldb.Time(*ms)
}

func (s *Sessions) insert(ctx context.Context, x Session, secret []byte) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO web_session (id, handle, realm, org, subject, grant_id, name, method, secret, rotated_at, created_at, used_at, ends_at, address, agent)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $10, $11, $12, $13)`,
			x.ID, hash(x.handle), s.Realm, x.Org, x.Subject, x.Grant, x.Name, x.Method, secret,
			sqldb.Millis(x.CreatedAt), sqldb.Millis(x.EndsAt), x.Address, x.Agent)
		return err
	})
}

func (s *Sessions) readOne(ctx context.Context, where string, arg any) (found storedSession, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		found, err = sqldb.QueryOne(tx, scan, `SELECT `+columns+` FROM web_session WHERE realm = $1 AND `+where, s.Realm, arg)
		if sqldb.Missing(err) {
			err = notFound()
		}
		return err
	})
	return found, err
}

func (s *Sessions) read(ctx context.Context, handle []byte) (storedSession, error) {
	return s.readOne(ctx, `handle = $2`, handle)
}

func (s *Sessions) byID(ctx context.Context, id string) (Session, error) {
	found, err := s.readOne(ctx, `id = $2`, id)
	return found.session, err
}

func (s *Sessions) list(ctx context.Context, org, subject string) (all []Session, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		found, err := sqldb.Query(tx, scan, `
			SELECT `+columns+`
			FROM web_session
			WHERE realm = $1
			  AND org = $2
			  AND subject = $3
			  AND ended_at IS NULL
			ORDER BY created_at DESC, id`, s.Realm, org, subject)
		for _, f := range found {
			all = append(all, f.session)
		}
		return err
	})
	return all, err
}

// propose stores a secret that is about to be sent to the browser. It returns
// false when a concurrent request did so first.
func (s *Sessions) propose(ctx context.Context, row storedSession, secret []byte, now time.Time) (won bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`
			UPDATE web_session
			SET pending = $1, pending_at = $2
			WHERE id = $3
			  AND secret = $4
			  AND coalesce(pending_at, 0) = $5`,
			secret, sqldb.Millis(now), row.session.ID, row.secret, millis(row.pendingAt))
		won = n > 0
		return err
	})
	return won, err
}

// promote makes the pending secret the current one. Only the first of several
// concurrent requests has an effect.
func (s *Sessions) promote(ctx context.Context, row storedSession, now time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			UPDATE web_session
			SET previous = secret, previous_until = $1, secret = pending, rotated_at = $2, pending = NULL, pending_at = NULL
			WHERE id = $3
			  AND pending = $4`,
			sqldb.Millis(now.Add(s.Grace)), sqldb.Millis(now), row.session.ID, row.pending)
		return err
	})
}

func (s *Sessions) touch(ctx context.Context, id string, now time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`UPDATE web_session SET used_at = $1 WHERE id = $2 AND used_at < $1`, sqldb.Millis(now), id)
		return err
	})
}

func (s *Sessions) end(ctx context.Context, id, reason string, at time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`UPDATE web_session SET ended_at = $1, ended_why = $2 WHERE id = $3 AND ended_at IS NULL`, sqldb.Millis(at), reason, id)
		if err == nil && n == 0 {
			err = notFound()
		}
		return err
	})
}

func (s *Sessions) addTicket(ctx context.Context, ticket []byte, identity Identity, expires time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO web_ticket (hash, realm, org, subject, grant_id, name, method, ends_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			ticket, s.Realm, identity.Org, identity.Subject, identity.Grant, identity.Name, identity.Method, sqldb.Millis(expires))
		return err
	})
}

// takeTicket returns the identity of a ticket and deletes the ticket.
func (s *Sessions) takeTicket(ctx context.Context, ticket []byte) (identity Identity, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		identity, err = sqldb.QueryOne(tx, func(r sqldb.Row) (identity Identity, err error) {
			err = r.Scan(&identity.Org, &identity.Subject, &identity.Grant, &identity.Name, &identity.Method)
			return identity, err
		}, `
			DELETE FROM web_ticket
			WHERE hash = $1
			  AND realm = $2
			  AND ends_at > $3
			RETURNING org, subject, grant_id, name, method`, ticket, s.Realm, sqldb.Millis(s.Now()))
		if sqldb.Missing(err) {
			err = notFound()
		}
		return err
	})
	return identity, err
}

// forget deletes sessions and tickets whose maximum age was reached before a time. A
// session that ended earlier than that is kept, so that its cookie is still recognised.
func (s *Sessions) forget(ctx context.Context, before time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`DELETE FROM web_session WHERE realm = $1 AND ends_at < $2`, s.Realm, sqldb.Millis(before)); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM web_ticket WHERE realm = $1 AND ends_at < $2`, s.Realm, sqldb.Millis(before))
		return err
	})
}

// millis returns a time in milliseconds, 0 for the zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return sqldb.Millis(t)
}
