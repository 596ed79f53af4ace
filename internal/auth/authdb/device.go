package authdb

import (
	"context"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/sqldb"
	"vigil/internal/subnet"
)

const deviceColumns = `code, hash, hint, client, source, created_at, expires_at, state`

func scanDevice(r sqldb.Row) (d auth.DeviceLogin, err error) {
	var created, expires int64
	var hash []byte
	err = r.Scan(&d.Code, &hash, &d.Hint, &d.Client, &d.Source, &created, &expires, &d.State)
	copy(d.Hash[:], hash)
	d.CreatedAt, d.ExpiresAt = sqldb.Time(created), sqldb.Time(expires)
	return d, err
}

// AddDevice implements [auth.DeviceStore].
func (s *Store) AddDevice(ctx context.Context, d auth.DeviceLogin, limits auth.DeviceLimits) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`DELETE FROM auth_device WHERE expires_at <= $1`, sqldb.Millis(d.CreatedAt)); err != nil {
			return err
		}
		pending, err := sqldb.Query(tx, sqldb.Scalar[string], `SELECT source FROM auth_device WHERE state = 'pending'`)
		if err != nil {
			return err
		}
		sameNetwork := 0
		for _, source := range pending {
			if subnet.Of(source) == subnet.Of(d.Source) {
				sameNetwork++
			}
		}
		switch {
		case len(pending) >= limits.Total:
			return fault.New(fault.Limited, "too many logins wait for confirmation; try again in some minutes")
		case sameNetwork >= limits.PerNetwork:
			return fault.New(fault.Limited, "too many logins from your address wait for confirmation; try again in some minutes")
		}
		_, err = tx.Exec(`
			INSERT INTO auth_device (`+deviceColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			d.Code, d.Hash[:], d.Hint, d.Client, d.Source, sqldb.Millis(d.CreatedAt), sqldb.Millis(d.ExpiresAt), d.State)
		return err
	})
}

// DeviceByCode implements [auth.DeviceStore].
func (s *Store) DeviceByCode(ctx context.Context, code string) (auth.DeviceLogin, error) {
	return s.device(ctx, `SELECT `+deviceColumns+` FROM auth_device WHERE code = $1`, code)
}

// DeviceByHash implements [auth.DeviceStore].
func (s *Store) DeviceByHash(ctx context.Context, h auth.TokenHash) (auth.DeviceLogin, error) {
	return s.device(ctx, `SELECT `+deviceColumns+` FROM auth_device WHERE hash = $1`, h[:])
}

func (s *Store) device(ctx context.Context, query string, arg any) (d auth.DeviceLogin, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		d, err = sqldb.QueryOne(tx, scanDevice, query, arg)
		if sqldb.Missing(err) {
			return auth.NoDeviceLogin()
		}
		return err
	})
	return d, err
}

// DecideDevice implements [auth.DeviceStore].
func (s *Store) DecideDevice(ctx context.Context, d auth.DeviceLogin, t *auth.Token) error {
	return s.change(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`UPDATE auth_device SET state = $2 WHERE code = $1 AND state = 'pending'`, d.Code, d.State)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.NotFound, "the login is not waiting for confirmation any more")
		}
		if t == nil {
			return nil
		}
		return insertToken(tx, *t, d.Hash)
	})
}
