package store

import (
	"bytes"
	"context"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// SealedColumn returns the credentials' secrets for key rotation.
func (s *Store) SealedColumn() secret.Column { return credentialSecrets{s.db} }

type credentialSecrets struct{ db *sqldb.DB }

// Name implements [secret.Column].
func (credentialSecrets) Name() string { return "credential_secret.sealed" }

type sealedRow struct {
	org        posture.OrgID
	credential posture.CredentialID
	name       string
	sealed     []byte
}

// place is where a row stands in the walk. None of its parts has a line feed.
func (r sealedRow) place() string {
	return string(r.org) + "\n" + string(r.credential) + "\n" + r.name
}

func scanSealed(row sqldb.Row) (r sealedRow, err error) {
	err = row.Scan(&r.org, &r.credential, &r.name, &r.sealed)
	return r, err
}

// Reseal implements [secret.Column].
func (c credentialSecrets) Reseal(ctx context.Context, r secret.Resealer, after string, limit int) (next string, changed int, err error) {
	rows, err := c.rows(ctx, after, limit)
	if err != nil {
		return "", 0, err
	}
	for _, row := range rows {
		fresh, differs, err := r.Reseal(ctx, secretCell(row.org, row.credential, row.name), row.sealed)
		if err != nil {
			return "", changed, err
		}
		if !differs || bytes.Equal(fresh, row.sealed) {
			continue
		}
		err = c.db.Write(ctx, func(tx *sqldb.Tx) error {
			n, err := tx.Exec(`
				UPDATE credential_secret
				SET sealed = $4
				WHERE org = $1 AND credential = $2 AND name = $3 AND sealed = $5`,
				row.org, row.credential, row.name, fresh, row.sealed)
			changed += int(n)
			return err
		})
		if err != nil {
			return "", changed, err
		}
	}
	if len(rows) < limit {
		return "", changed, nil
	}
	return rows[len(rows)-1].place(), changed, nil
}

func (c credentialSecrets) rows(ctx context.Context, after string, limit int) (rows []sealedRow, err error) {
	org, rest, _ := strings.Cut(after, "\n")
	credential, name, _ := strings.Cut(rest, "\n")
	err = c.db.Read(ctx, func(tx *sqldb.Tx) error {
		rows, err = sqldb.Query(tx, scanSealed, `
			SELECT org, credential, name, sealed
			FROM credential_secret
			WHERE (org, credential, name) > ($1, $2, $3)
			ORDER BY org, credential, name
			LIMIT $4`, org, credential, name, limit)
		return err
	})
	return rows, err
}
