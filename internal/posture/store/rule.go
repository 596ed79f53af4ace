package store

import (
	"context"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// Rules implements [posture.RuleStore].
func (s *Store) Rules(ctx context.Context, org posture.OrgID) (rules map[posture.RuleID]posture.Rule, generation int64, err error) {
	rules = map[posture.RuleID]posture.Rule{}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if generation, err = ruleGeneration(tx, org); err != nil {
			return err
		}
		for text, err := range sqldb.Each(tx, sqldb.Scalar[string], `SELECT record FROM rule WHERE org = $1`, org) {
			if err != nil {
				return err
			}
			var r posture.Rule
			if err := fromJSON(text, &r); err != nil {
				return err
			}
			rules[r.ID] = r
		}
		return nil
	})
	return rules, generation, err
}

// RuleGeneration implements [posture.RuleStore].
func (s *Store) RuleGeneration(ctx context.Context, org posture.OrgID) (generation int64, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		generation, err = ruleGeneration(tx, org)
		return err
	})
	return generation, err
}

// ruleGeneration returns the generation of an organisation's rules, 0 before the first
// change.
func ruleGeneration(tx *sqldb.Tx, org posture.OrgID) (int64, error) {
	generation, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT generation FROM rule_generation WHERE org = $1`, org)
	if sqldb.Missing(err) {
		return 0, nil
	}
	return generation, err
}

// SaveRule implements [posture.RuleStore].
func (s *Store) SaveRule(ctx context.Context, org posture.OrgID, r posture.Rule, actor string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := touchRules(tx, org); err != nil {
			return err
		}
		version, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT version FROM rule WHERE org = $1 AND id = $2`, org, r.ID)
		switch {
		case sqldb.Missing(err):
			version = 0
			if r.Source == posture.Native { // version 1 of a native rule is not in the table
				version = 1
			}
		case err != nil:
			return err
		}
		switch {
		case version == r.Version-1: // r follows the stored version
		case r.Version == 1:
			return fault.New(fault.Conflict, "rule %q exists already", r.ID)
		default:
			return fault.New(fault.Stale, "the rule has changed since it was read; read it again")
		}
		record := toJSON(r)
		_, err = tx.Exec(`
			INSERT INTO rule (org, id, version, etag, record)
			VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (org, id) DO UPDATE
			SET version = excluded.version, etag = excluded.etag, record = excluded.record`, org, r.ID, r.Version, r.ETag, record)
		if err != nil {
			return err
		}
		// The history of a deleted rule is kept. If the rule is saved again, its versions repeat.
		_, err = tx.Exec(`
			INSERT INTO rule_change (org, id, version, at, who, record)
			VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (org, id, version) DO UPDATE
			SET at = excluded.at, who = excluded.who, record = excluded.record`,
			org, r.ID, r.Version, sqldb.Millis(r.Updated), actor, record)
		if err != nil {
			return err
		}
		return s.jobs.JudgeRule(tx, org, r.ID)
	})
}

// touchRules increments the generation of an organisation's rules. Its row lock
// serialises changes of rules.
func touchRules(tx *sqldb.Tx, org posture.OrgID) error {
	_, err := tx.Exec(`
		INSERT INTO rule_generation (org, generation)
		VALUES ($1, 1)
		ON CONFLICT (org) DO UPDATE
		SET generation = rule_generation.generation + 1`, org)
	return err
}

// DeleteRule implements [posture.RuleStore].
func (s *Store) DeleteRule(ctx context.Context, org posture.OrgID, id posture.RuleID, ifMatch string, now time.Time) (r posture.Rule, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := touchRules(tx, org); err != nil {
			return err
		}
		text, err := sqldb.QueryOne(tx, sqldb.Scalar[string], `SELECT record FROM rule WHERE org = $1 AND id = $2`, org, id)
		if sqldb.Missing(err) {
			return posture.RuleNotFound(id)
		}
		if err != nil {
			return err
		}
		if err := fromJSON(text, &r); err != nil {
			return err
		}
		if err := r.CheckVersion(ifMatch); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM rule WHERE org = $1 AND id = $2`, org, id); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM rule_verdict WHERE org = $1 AND rule = $2`, org, id); err != nil {
			return err
		}
		_, err = resolveWhere(tx, org, `rule = $2`, now, id)
		return err
	})
	return r, err
}

// RuleHistory implements [posture.RuleStore].
func (s *Store) RuleHistory(ctx context.Context, org posture.OrgID, id posture.RuleID) (all []posture.RuleChange, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, func(row sqldb.Row) (c posture.RuleChange, err error) {
			var (
				at   int64
				text string
			)
			if err := row.Scan(&c.Version, &at, &c.By, &text); err != nil {
				return c, err
			}
			c.At = sqldb.Time(at)
			err = fromJSON(text, &c.Rule)
			return c, err
		}, `SELECT version, at, who, record FROM rule_change WHERE org = $1 AND id = $2 ORDER BY version DESC`, org, id)
		return err
	})
	return all, err
}

// Frameworks implements [posture.FrameworkStore].
func (s *Store) Frameworks(ctx context.Context, org posture.OrgID) (all []posture.Framework, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, func(row sqldb.Row) (f posture.Framework, err error) {
			var text string
			if err := row.Scan(&text); err != nil {
				return f, err
			}
			err = fromJSON(text, &f)
			return f, err
		}, `SELECT record FROM framework WHERE org = $1 ORDER BY name, id`, org)
		return err
	})
	return all, err
}

// SaveFramework implements [posture.FrameworkStore].
func (s *Store) SaveFramework(ctx context.Context, org posture.OrgID, f posture.Framework) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO framework (org, id, name, record)
			VALUES ($1, $2, $3, $4)
			ON CONFLICT (org, id) DO UPDATE
			SET name = excluded.name, record = excluded.record`, org, f.ID, f.Name, toJSON(f))
		return err
	})
}

// DeleteFramework implements [posture.FrameworkStore].
func (s *Store) DeleteFramework(ctx context.Context, org posture.OrgID, id string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`DELETE FROM framework WHERE org = $1 AND id = $2`, org, id)
		if err == nil && n == 0 {
			return fault.New(fault.NotFound, "compliance framework %q was not found", id)
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(`DELETE FROM control_assessment WHERE org = $1 AND framework = $2`, org, id)
		return err
	})
}
