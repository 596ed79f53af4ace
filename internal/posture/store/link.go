package store

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

const linkColumns = `account, credential, provider, etag, created, updated`

func scanLink(r sqldb.Row) (posture.Link, error) {
	var (
		l                posture.Link
		created, updated int64
	)
	err := r.Scan(&l.Account, &l.Credential, &l.Provider, &l.ETag, &created, &updated)
	l.Created, l.Updated = sqldb.Time(created), sqldb.Time(updated)
	return l, err
}

// Links implements [posture.OnboardingStore].
func (s *Store) Links(ctx context.Context, org posture.OrgID, accounts []posture.AccountID) (links []posture.Link, err error) {
	args := []any{org}
	where := "org = $1"
	if len(accounts) > 0 {
		where += " AND account IN " + sqldb.List(&args, sqldb.Strings(accounts))
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		links, err = sqldb.Query(tx, scanLink, `SELECT `+linkColumns+` FROM link WHERE `+where+` ORDER BY account, credential`, args...)
		return err
	})
	return links, err
}

// Link implements [posture.OnboardingTx].
func (t *onboardTx) Link(a posture.AccountID, c posture.CredentialID) (posture.Link, error) {
	l, err := sqldb.QueryOne(t.tx, scanLink, `
		SELECT `+linkColumns+`
		FROM link
		WHERE org = $1 AND account = $2 AND credential = $3`, t.org, a, c)
	return l, notFoundIfMissing(err, "the link of cloud account %q and credential %q was not found", a, c)
}

// LinksOfAccount implements [posture.OnboardingTx].
func (t *onboardTx) LinksOfAccount(id posture.AccountID) ([]posture.Link, error) {
	return sqldb.Query(t.tx, scanLink, `SELECT `+linkColumns+` FROM link WHERE org = $1 AND account = $2 ORDER BY credential`, t.org, id)
}

// LinksOfCredential implements [posture.OnboardingTx].
func (t *onboardTx) LinksOfCredential(id posture.CredentialID) ([]posture.Link, error) {
	return sqldb.Query(t.tx, scanLink, `SELECT `+linkColumns+` FROM link WHERE org = $1 AND credential = $2 ORDER BY account`, t.org, id)
}

// AddLink implements [posture.OnboardingTx].
func (t *onboardTx) AddLink(l posture.Link) error {
	_, err := t.tx.Exec(`
		INSERT INTO link (org, account, credential, provider, etag, created, updated)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		t.org, l.Account, l.Credential, l.Provider, l.ETag, sqldb.Millis(l.Created), sqldb.Millis(l.Updated))
	return err
}

// RemoveLink implements [posture.OnboardingTx].
func (t *onboardTx) RemoveLink(a posture.AccountID, c posture.CredentialID) error {
	_, err := t.tx.Exec(`DELETE FROM link WHERE org = $1 AND account = $2 AND credential = $3`, t.org, a, c)
	return err
}
