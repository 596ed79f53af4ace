package store

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/secret"
	"vigil/internal/secret/secretdb"
	"vigil/internal/sqldb"
)

const credentialColumns = `id, provider, properties, etag, created, updated`

func scanCredential(r sqldb.Row) (posture.Credential, error) {
	var (
		c                posture.Credential
		properties       string
		created, updated int64
	)
	if err := r.Scan(&c.ID, &c.Provider, &properties, &c.ETag, &created, &updated); err != nil {
		return c, err
	}
	c.Created, c.Updated = sqldb.Time(created), sqldb.Time(updated)
	err := fromJSON(properties, &c.Properties)
	return c, err
}

// secretsCell returns the database cell of a credential's secrets. The encryption is
// bound to the cell, so that a secret cannot be decrypted elsewhere.
func secretsCell(org posture.OrgID, id posture.CredentialID) secret.Cell {
	return secret.Cell{Org: string(org), Table: "credential", Row: string(id), Field: "secrets"}
}

// SealedColumns lists the columns to re-encrypt when keys are rotated.
func SealedColumns(db *sqldb.DB) []secretdb.Column {
	return []secretdb.Column{
		{DB: db, Table: "credential", Org: "org", Row: "id", Field: "secrets"},
		{DB: db, Table: "notify_channel", Org: "org", Row: "id", Field: "secrets"},
	}
}

// Credential implements [posture.OnboardingStore].
func (s *Store) Credential(ctx context.Context, org posture.OrgID, id posture.CredentialID) (c posture.Credential, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		c, err = credential(tx, org, id)
		return err
	})
	return c, err
}

func credential(tx *sqldb.Tx, org posture.OrgID, id posture.CredentialID) (posture.Credential, error) {
	c, err := sqldb.QueryOne(tx, scanCredential, `
		SELECT `+credentialColumns+`
		FROM credential
		WHERE org = $1 AND id = $2`, org, id)
	return c, notFoundIfMissing(err, "credential %q was not found", id)
}

// Credentials implements [posture.OnboardingStore].
func (s *Store) Credentials(ctx context.Context, org posture.OrgID, ps []posture.Provider, p posture.Page) (page []posture.Credential, total int, err error) {
	args := []any{org}
	where := "org = $1"
	if len(ps) > 0 {
		where += " AND provider IN " + sqldb.List(&args, sqldb.Strings(ps))
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		total, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM credential WHERE `+where, args...)
		if err != nil {
			return err
		}
		text := pageOf(`SELECT `+credentialColumns+` FROM credential WHERE `+where, "id", &args, p)
		page, err = sqldb.Query(tx, scanCredential, text, args...)
		return err
	})
	return page, total, err
}

// Access implements [posture.OnboardingStore].
func (s *Store) Access(ctx context.Context, org posture.OrgID, id posture.AccountID) (a posture.Access, err error) {
	a.Org = org
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if a.Account, err = account(tx, org, id); err != nil {
			return err
		}
		if a.Credential, err = credentialOf(tx, org, id); err != nil {
			return err
		}
		a.Secrets, err = s.secrets(ctx, tx, org, a.Credential.ID)
		return err
	})
	return a, err
}

// CredentialOf implements [posture.OnboardingTx].
func (t *onboardTx) CredentialOf(id posture.AccountID) (posture.Credential, error) {
	return credentialOf(t.tx, t.org, id)
}

// credentialOf returns the credential of the newest link of an account: a credential is
// replaced by adding the new one and then removing the old.
func credentialOf(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) (posture.Credential, error) {
	c, err := sqldb.QueryOne(tx, scanCredential, `
		SELECT c.id, c.provider, c.properties, c.etag, c.created, c.updated
		FROM link l
		JOIN credential c ON c.org = l.org AND c.id = l.credential
		WHERE l.org = $1 AND l.account = $2
		ORDER BY l.created DESC, l.credential DESC
		LIMIT 1`, org, id)
	return c, notFoundIfMissing(err, "cloud account %q has no credential", id)
}

// secrets decrypts the secrets of a credential.
func (s *Store) secrets(ctx context.Context, tx *sqldb.Tx, org posture.OrgID, id posture.CredentialID) (posture.Secrets, error) {
	sealed, err := sqldb.QueryOne(tx, sqldb.Scalar[[]byte], `SELECT secrets FROM credential WHERE org = $1 AND id = $2`, org, id)
	if err != nil {
		return nil, err
	}
	plaintext, err := s.box.Open(ctx, secretsCell(org, id), sealed)
	if err != nil {
		return nil, err
	}
	var all posture.Secrets
	err = fromJSON(string(plaintext), &all)
	return all, err
}

// Credential implements [posture.OnboardingTx].
func (t *onboardTx) Credential(id posture.CredentialID) (posture.Credential, posture.Secrets, error) {
	c, err := credential(t.tx, t.org, id)
	if err != nil {
		return c, nil, err
	}
	secrets, err := t.store.secrets(t.tx.Context(), t.tx, t.org, id)
	return c, secrets, err
}

// SaveCredential implements [posture.OnboardingTx].
func (t *onboardTx) SaveCredential(c posture.Credential, secrets posture.Secrets) error {
	sealed, err := t.store.box.Seal(t.tx.Context(), secretsCell(t.org, c.ID), []byte(toJSON(secrets)))
	if err != nil {
		return err
	}
	_, err = t.tx.Exec(`
		INSERT INTO credential (org, id, provider, properties, secrets, etag, created, updated)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (org, id) DO UPDATE
		SET properties = excluded.properties, secrets = excluded.secrets, etag = excluded.etag, updated = excluded.updated`,
		t.org, c.ID, c.Provider, toJSON(c.Properties), sealed, c.ETag, sqldb.Millis(c.Created), sqldb.Millis(c.Updated))
	return err
}

// RemoveCredential implements [posture.OnboardingTx].
func (t *onboardTx) RemoveCredential(id posture.CredentialID) error {
	_, err := t.tx.Exec(`DELETE FROM credential WHERE org = $1 AND id = $2`, t.org, id)
	return err
}
