package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"vigil/internal/auth"
	"vigil/internal/desktop/session"
	"vigil/internal/sqldb"
)

// AddSession implements [session.Store].
func (s *Store) AddSession(ctx context.Context, v session.Session) error {
	_, err := s.exec(ctx, `
		INSERT INTO desktop_session (id, domain_id, domain, username, user_sid, source, created_at, expires_at, ended_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		v.ID, v.User.DomainID, v.User.Domain, v.User.Name, v.User.SID, v.Source,
		millis(v.CreatedAt), millis(v.ExpiresAt), millis(v.EndedAt))
	return err
}

const sessionColumns = `id, domain_id, domain, username, user_sid, source, created_at, expires_at, ended_at`

func scanSession(r sqldb.Row) (v session.Session, err error) {
	err = r.Scan(&v.ID, &v.User.DomainID, &v.User.Domain, &v.User.Name, &v.User.SID, &v.Source,
		moment{&v.CreatedAt}, moment{&v.ExpiresAt}, moment{&v.EndedAt})
	return v, err
}

// Session implements [session.Store].
func (s *Store) Session(ctx context.Context, id string) (session.Session, error) {
	return one(ctx, s, "session", scanSession, `SELECT `+sessionColumns+` FROM desktop_session WHERE id = $1`, id)
}

// SessionsOf implements [session.Store].
func (s *Store) SessionsOf(ctx context.Context, sid string) ([]session.Session, error) {
	return list(ctx, s, scanSession, `
		SELECT `+sessionColumns+`
		FROM desktop_session
		WHERE user_sid = $1
		  AND ended_at = 0
		ORDER BY created_at DESC, id`, sid)
}

// EndSession implements [session.Store].
func (s *Store) EndSession(ctx context.Context, id string, at time.Time) error {
	n, err := s.exec(ctx, `
		UPDATE desktop_session
		SET ended_at = $2
		WHERE id = $1
		  AND ended_at = 0`, id, millis(at))
	return requireChanged(n, err, "session")
}

// ForgetSessions implements [session.Store].
func (s *Store) ForgetSessions(ctx context.Context, before time.Time) error {
	_, err := s.exec(ctx, `
		DELETE FROM desktop_session
		WHERE expires_at < $1
		   OR (ended_at > 0 AND ended_at < $1)`, millis(before))
	return err
}

func scanFailures(r sqldb.Row) (f session.Failures, err error) {
	err = r.Scan(&f.Count, moment{&f.Last})
	return f, err
}

type subjectFailures struct {
	subject string
	session.Failures
}

func scanSubjectFailures(r sqldb.Row) (f subjectFailures, err error) {
	err = r.Scan(&f.subject, &f.Count, moment{&f.Last})
	return f, err
}

// Failures implements [session.Store].
func (s *Store) Failures(ctx context.Context, subjects ...string) ([]session.Failures, error) {
	var args []any
	in := sqldb.List(&args, subjects)
	found, err := list(ctx, s, scanSubjectFailures, `
		SELECT subject, failed, last_at
		FROM desktop_login_failure
		WHERE subject IN `+in, args...)
	all := make([]session.Failures, len(subjects))
	for _, f := range found {
		if i := slices.Index(subjects, f.subject); i >= 0 {
			all[i] = f.Failures
		}
	}
	return all, err
}

// AddFailure implements [session.Store].
func (s *Store) AddFailure(ctx context.Context, subject string, at time.Time, window time.Duration) (f session.Failures, err error) {
	err = s.db.Write(sqldb.WithoutCommitHook(ctx), func(tx *sqldb.Tx) error {
		f, err = sqldb.QueryOne(tx, scanFailures, `
			INSERT INTO desktop_login_failure (subject, failed, last_at)
			VALUES ($1, 1, $2)
			ON CONFLICT (subject) DO UPDATE
			SET failed = CASE WHEN desktop_login_failure.last_at <= $3 THEN 1 ELSE desktop_login_failure.failed + 1 END,
				last_at = excluded.last_at
			RETURNING failed, last_at`, subject, millis(at), millis(at.Add(-window)))
		return err
	})
	return f, err
}

// ClearFailures implements [session.Store].
func (s *Store) ClearFailures(ctx context.Context, seen map[string]session.Failures) error {
	return s.db.Write(sqldb.WithoutCommitHook(ctx), func(tx *sqldb.Tx) error {
		for _, subject := range slices.Sorted(maps.Keys(seen)) { // always in this order, so that transactions do not deadlock
			_, err := tx.Exec(`
				DELETE FROM desktop_login_failure
				WHERE subject = $1
				  AND failed = $2
				  AND last_at = $3`, subject, seen[subject].Count, millis(seen[subject].Last))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ForgetFailures implements [session.Store].
func (s *Store) ForgetFailures(ctx context.Context, before time.Time) error {
	_, err := s.exec(ctx, `DELETE FROM desktop_login_failure WHERE last_at < $1`, millis(before))
	return err
}

func scanLoginNetwork(r sqldb.Row) (p auth.LoginNetwork, err error) {
	err = r.Scan(&p.Account, &p.Network)
	return p, err
}

// LoginNetworks implements [session.Store]. It returns at most
// [auth.MaxLoginNetworks].
func (s *Store) LoginNetworks(ctx context.Context) ([]auth.LoginNetwork, error) {
	return list(ctx, s, scanLoginNetwork, `
		SELECT account, network
		FROM desktop_login_place
		ORDER BY last_at DESC
		LIMIT $1`, auth.MaxLoginNetworks)
}

// AddLoginNetwork implements [session.Store].
func (s *Store) AddLoginNetwork(ctx context.Context, p auth.LoginNetwork, at time.Time) error {
	_, err := s.exec(sqldb.WithoutCommitHook(ctx), `
		INSERT INTO desktop_login_place (account, network, last_at)
		VALUES ($1, $2, $3)
		ON CONFLICT (account, network) DO UPDATE
		SET last_at = excluded.last_at`, p.Account, p.Network, millis(at))
	return err
}

// ForgetLoginNetworks implements [session.Store].
func (s *Store) ForgetLoginNetworks(ctx context.Context, before time.Time) error {
	_, err := s.exec(ctx, `DELETE FROM desktop_login_place WHERE last_at < $1`, millis(before))
	return err
}

const keyColumns = `id, name, hash, hint, created_by, created_at, expires_at, last_used_at, last_address, addresses`

func scanKey(r sqldb.Row) (k session.Key, err error) {
	err = r.Scan(&k.ID, &k.Name, &k.Hash, &k.Hint, &k.CreatedBy,
		moment{&k.CreatedAt}, moment{&k.ExpiresAt}, moment{&k.LastUsedAt}, &k.LastAddress, &k.Limits.Addresses)
	return k, err
}

// AddKey implements [session.Store].
func (s *Store) AddKey(ctx context.Context, k session.Key) error {
	_, err := s.change(ctx, `
		INSERT INTO desktop_key (`+keyColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		k.ID, k.Name, k.Hash, k.Hint, k.CreatedBy, millis(k.CreatedAt), millis(k.ExpiresAt), millis(k.LastUsedAt), k.LastAddress, k.Limits.Addresses)
	return err
}

// Keys implements [session.Store].
func (s *Store) Keys(ctx context.Context) ([]session.Key, error) {
	return list(ctx, s, scanKey, `
		SELECT `+keyColumns+`
		FROM desktop_key
		ORDER BY created_at DESC, id`)
}

// KeyByHash implements [session.Store].
func (s *Store) KeyByHash(ctx context.Context, hash []byte) (session.Key, error) {
	return one(ctx, s, "key", scanKey, `
		SELECT `+keyColumns+`
		FROM desktop_key
		WHERE hash = $1`, hash)
}

// UseKey implements [session.Store].
func (s *Store) UseKey(ctx context.Context, id string, at time.Time, address string) error {
	n, err := s.exec(ctx, `UPDATE desktop_key SET last_used_at = $2, last_address = $3 WHERE id = $1`, id, millis(at), address)
	return requireChanged(n, err, "key")
}

// DeleteKey implements [session.Store].
func (s *Store) DeleteKey(ctx context.Context, id string) error {
	n, err := s.change(ctx, `DELETE FROM desktop_key WHERE id = $1`, id)
	return requireChanged(n, err, "key")
}
