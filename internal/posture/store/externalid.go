package store

import (
	"context"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// ExternalID implements [posture.OnboardingStore].
func (s *Store) ExternalID(ctx context.Context, org posture.OrgID) (id string, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		id, err = issuedID(tx, org)
		return err
	})
	if err == nil || !sqldb.Missing(err) {
		return id, err
	}
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock("external id/" + string(org)); err != nil {
			return err
		}
		id, err = issuedID(tx, org)
		if err == nil || !sqldb.Missing(err) {
			return err // another process has issued it in the meantime
		}
		id = posture.NewExternalID()
		_, err := tx.Exec(`
			INSERT INTO external_id (id, org, issued, created)
			VALUES ($1, $2, TRUE, $3)`, id, org, sqldb.Millis(s.now()))
		return err
	})
	return id, err
}

// issuedID returns the external id that [Store.ExternalID] issued for an organisation. The
// other ids of the organisation are claimed: they came with its credentials.
func issuedID(tx *sqldb.Tx, org posture.OrgID) (string, error) {
	return sqldb.QueryOne(tx, sqldb.Scalar[string], `SELECT id FROM external_id WHERE org = $1 AND issued`, org)
}

// CheckExternalID implements [posture.OnboardingStore].
func (s *Store) CheckExternalID(ctx context.Context, org posture.OrgID, id string) error {
	return s.db.Read(ctx, func(tx *sqldb.Tx) error {
		err := checkOwned(tx, org, id)
		if sqldb.Missing(err) {
			return nil
		}
		return err
	})
}

// checkOwned fails with fault.Conflict if an external id belongs to another organisation. If
// it belongs to none, it returns an error for which [sqldb.Missing] is true.
func checkOwned(tx *sqldb.Tx, org posture.OrgID, id string) error {
	owner, err := sqldb.QueryOne(tx, sqldb.Scalar[string], `SELECT org FROM external_id WHERE id = $1`, id)
	if err != nil {
		return err
	}
	if owner != string(org) {
		return fault.New(fault.Conflict, "the external id belongs to another organisation")
	}
	return nil
}

// ClaimExternalID implements [posture.OnboardingTx].
func (t *onboardTx) ClaimExternalID(id string) error {
	if err := claim(t.tx, t.org, id, sqldb.Millis(t.store.now())); err != nil {
		return err
	}
	return checkOwned(t.tx, t.org, id)
}

func claim(tx *sqldb.Tx, org posture.OrgID, id string, at int64) error {
	_, err := tx.Exec(`
		INSERT INTO external_id (id, org, issued, created)
		VALUES ($1, $2, FALSE, $3)
		ON CONFLICT (id) DO NOTHING`, id, org, at)
	return err
}

// claimExternalIDs claims the external ids of credentials that are older than the table
// external_id. If two organisations have the same id, the older credential gets it.
func claimExternalIDs(ctx context.Context, db *sqldb.DB) error {
	return db.Write(ctx, func(tx *sqldb.Tx) error {
		known, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT count(*) FROM external_id`)
		if err != nil || known > 0 {
			return err
		}
		type row struct {
			org        posture.OrgID
			properties string
			created    int64
		}
		all, err := sqldb.Query(tx, func(r sqldb.Row) (v row, err error) {
			err = r.Scan(&v.org, &v.properties, &v.created)
			return v, err
		}, `SELECT org, properties, created FROM credential WHERE provider = $1 ORDER BY created, org, id`, posture.AWS)
		if err != nil {
			return err
		}
		for _, v := range all {
			var c posture.Credential
			if err := fromJSON(v.properties, &c.Properties); err != nil {
				return err
			}
			if id := c.Property(posture.PropExternalID); id != "" {
				if err := claim(tx, v.org, id, v.created); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
