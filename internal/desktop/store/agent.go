package store

import (
	"context"
	"time"

	"vigil/internal/desktop/heartbeat"
	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

// authorityID is the id of the only row of its table.
const authorityID = "agent"

// Authority implements [heartbeat.Store].
func (s *Store) Authority(ctx context.Context) (heartbeat.Keys, error) {
	k, err := one(ctx, s, "authority", func(r sqldb.Row) (k heartbeat.Keys, err error) {
		err = r.Scan(&k.Certificate, &k.Key) // the key is still sealed
		return k, err
	}, `
		SELECT certificate, sealed
		FROM desktop_authority
		WHERE id = $1`, authorityID)
	if err != nil {
		return heartbeat.Keys{}, err
	}
	k.Key, err = s.box.Open(ctx, cell(authorityTable, authorityID), k.Key)
	return k, err
}

// KeepAuthority implements [heartbeat.Store].
func (s *Store) KeepAuthority(ctx context.Context, k heartbeat.Keys) (heartbeat.Keys, error) {
	sealed, err := s.box.Seal(ctx, cell(authorityTable, authorityID), k.Key)
	if err != nil {
		return heartbeat.Keys{}, err
	}
	_, err = s.exec(ctx, `
		INSERT INTO desktop_authority (id, certificate, sealed)
		VALUES ($1, $2, $3)
		ON CONFLICT (id) DO NOTHING`, authorityID, k.Certificate, sealed)
	if err != nil {
		return heartbeat.Keys{}, err
	}
	return s.Authority(ctx)
}

const tokenColumns = `id, hash, kind, component, created_by, created_at, expires_at, used_at`

func scanToken(r sqldb.Row) (t heartbeat.Token, err error) {
	err = r.Scan(&t.ID, &t.Hash, &t.Agent.Kind, &t.Agent.ID, &t.CreatedBy,
		moment{&t.CreatedAt}, moment{&t.ExpiresAt}, moment{&t.UsedAt})
	return t, err
}

// AddToken implements [heartbeat.Store].
func (s *Store) AddToken(ctx context.Context, t heartbeat.Token) error {
	_, err := s.exec(ctx, `
		INSERT INTO desktop_enrolment_token (`+tokenColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		t.ID, t.Hash, t.Agent.Kind, t.Agent.ID, t.CreatedBy, millis(t.CreatedAt), millis(t.ExpiresAt), millis(t.UsedAt))
	return err
}

// Tokens implements [heartbeat.Store].
func (s *Store) Tokens(ctx context.Context) ([]heartbeat.Token, error) {
	return list(ctx, s, scanToken, `
		SELECT `+tokenColumns+`
		FROM desktop_enrolment_token
		ORDER BY created_at DESC, id`)
}

// TokenByHash implements [heartbeat.Store].
func (s *Store) TokenByHash(ctx context.Context, hash []byte) (heartbeat.Token, error) {
	return one(ctx, s, "enrolment token", scanToken, `
		SELECT `+tokenColumns+`
		FROM desktop_enrolment_token
		WHERE hash = $1`, hash)
}

// DeleteToken implements [heartbeat.Store].
func (s *Store) DeleteToken(ctx context.Context, id string) error {
	n, err := s.exec(ctx, `DELETE FROM desktop_enrolment_token WHERE id = $1`, id)
	return requireChanged(n, err, "enrolment token")
}

// Redeem implements [heartbeat.Store].
func (s *Store) Redeem(ctx context.Context, tokenID string, at time.Time, c heartbeat.Certificate) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`
			UPDATE desktop_enrolment_token
			SET used_at = $2
			WHERE id = $1
			  AND used_at = 0`, tokenID, millis(at))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Conflict, "the enrolment token was used before")
		}
		if err := tx.Lock(agentLock(c.Agent)); err != nil {
			return err
		}
		if _, err := revoke(tx, c.Agent, at); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM desktop_beat WHERE kind = $1 AND component = $2`, c.Agent.Kind, c.Agent.ID); err != nil {
			return err
		}
		return addCertificate(tx, c)
	})
}

// agentLock is the lock of the certificates of an agent. It prevents a renewal from
// adding a certificate while the others are being revoked.
func agentLock(a heartbeat.Agent) string {
	return "desktop_agent/" + string(a.Kind) + "/" + string(a.ID)
}

// Renew implements [heartbeat.Store].
func (s *Store) Renew(ctx context.Context, serial string, c heartbeat.Certificate) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock(agentLock(c.Agent)); err != nil {
			return err
		}
		valid, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `
			SELECT count(*)
			FROM desktop_agent_certificate
			WHERE serial = $1
			  AND kind = $2
			  AND component = $3
			  AND revoked_at = 0`, serial, c.Agent.Kind, c.Agent.ID)
		if err != nil {
			return err
		}
		if valid == 0 {
			return fault.New(fault.Conflict, "the certificate to renew is revoked")
		}
		return addCertificate(tx, c)
	})
}

func addCertificate(tx *sqldb.Tx, c heartbeat.Certificate) error {
	_, err := tx.Exec(`
		INSERT INTO desktop_agent_certificate (serial, kind, component, not_before, not_after, revoked_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		c.Serial, c.Agent.Kind, c.Agent.ID, millis(c.NotBefore), millis(c.NotAfter), millis(c.RevokedAt))
	return err
}

// Certificate implements [heartbeat.Store].
func (s *Store) Certificate(ctx context.Context, serial string) (heartbeat.Certificate, error) {
	return one(ctx, s, "certificate", scanCertificate, `
		SELECT serial, kind, component, not_before, not_after, revoked_at
		FROM desktop_agent_certificate
		WHERE serial = $1`, serial)
}

// Certificates implements [heartbeat.Store].
func (s *Store) Certificates(ctx context.Context, after time.Time) ([]heartbeat.Certificate, error) {
	return list(ctx, s, scanCertificate, `
		SELECT serial, kind, component, not_before, not_after, revoked_at
		FROM desktop_agent_certificate
		WHERE not_after > $1
		ORDER BY kind, component, not_after DESC, serial`, millis(after))
}

func scanCertificate(r sqldb.Row) (c heartbeat.Certificate, err error) {
	err = r.Scan(&c.Serial, &c.Agent.Kind, &c.Agent.ID, moment{&c.NotBefore}, moment{&c.NotAfter}, moment{&c.RevokedAt})
	return c, err
}

// Revoke implements [heartbeat.Store].
func (s *Store) Revoke(ctx context.Context, a heartbeat.Agent, at time.Time) (n int, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock(agentLock(a)); err != nil {
			return err
		}
		n, err = revoke(tx, a, at)
		return err
	})
	return n, err
}

func revoke(tx *sqldb.Tx, a heartbeat.Agent, at time.Time) (int, error) {
	n, err := tx.Exec(`
		UPDATE desktop_agent_certificate
		SET revoked_at = $3
		WHERE kind = $1
		  AND component = $2
		  AND revoked_at = 0`, a.Kind, a.ID, millis(at))
	return int(n), err
}
