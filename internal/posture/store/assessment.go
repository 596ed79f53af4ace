package store

import (
	"context"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

func scanAssessment(row sqldb.Row) (a posture.Assessment, err error) {
	var text string
	if err := row.Scan(&text); err != nil {
		return a, err
	}
	err = fromJSON(text, &a)
	return a, err
}

// Assessments implements [posture.AssessmentStore].
func (s *Store) Assessments(ctx context.Context, org posture.OrgID, framework string) (all []posture.Assessment, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, scanAssessment, `SELECT record FROM control_assessment WHERE org = $1 AND framework = $2 ORDER BY control`, org, framework)
		return err
	})
	return all, err
}

// SaveAssessment implements [posture.AssessmentStore].
func (s *Store) SaveAssessment(ctx context.Context, org posture.OrgID, a posture.Assessment) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO control_assessment (org, framework, control, record)
			VALUES ($1, $2, $3, $4)
			ON CONFLICT (org, framework, control) DO UPDATE
			SET record = excluded.record`, org, a.Framework, a.Control, toJSON(a))
		return err
	})
}

// DeleteAssessment implements [posture.AssessmentStore].
func (s *Store) DeleteAssessment(ctx context.Context, org posture.OrgID, framework, control string) (a posture.Assessment, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		a, err = sqldb.QueryOne(tx, scanAssessment, `
			DELETE FROM control_assessment WHERE org = $1 AND framework = $2 AND control = $3
			RETURNING record`, org, framework, control)
		if sqldb.Missing(err) {
			return fault.New(fault.NotFound, "nobody has assessed control %q of compliance framework %q", control, framework)
		}
		return err
	})
	return a, err
}
