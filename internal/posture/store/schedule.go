package store

import (
	"context"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// CollectionPlan implements [posture.PlanStore].
func (s *Store) CollectionPlan(ctx context.Context, org posture.OrgID) (p posture.CollectionPlan, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err = collectionPlan(tx, org)
		return err
	})
	return p, err
}

func collectionPlan(tx *sqldb.Tx, org posture.OrgID) (posture.CollectionPlan, error) {
	p, err := sqldb.QueryOne(tx, func(r sqldb.Row) (p posture.CollectionPlan, err error) {
		err = r.Scan(&p.EveryHours, &p.Paused)
		return p, err
	}, `SELECT every_hours, paused FROM collection_plan WHERE org = $1`, org)
	if sqldb.Missing(err) {
		return posture.DefaultPlan, nil
	}
	return p, err
}

// SetCollectionPlan implements [posture.PlanStore].
func (s *Store) SetCollectionPlan(ctx context.Context, org posture.OrgID, p posture.CollectionPlan) error {
	return s.Onboard(ctx, org, func(t posture.OnboardingTx) error {
		tx := t.(*onboardTx).tx
		_, err := tx.Exec(`
			INSERT INTO collection_plan (org, every_hours, paused)
			VALUES ($1, $2, $3)
			ON CONFLICT (org) DO UPDATE
			SET every_hours = excluded.every_hours, paused = excluded.paused`, org, p.EveryHours, p.Paused)
		if err != nil {
			return err
		}
		all, err := sqldb.Query(tx, scanAccount, `SELECT `+accountColumns+` FROM account WHERE org = $1 AND status <> 'draft'`, org)
		if err != nil {
			return err
		}
		last, err := lastStarts(tx, org, "") // of all accounts
		if err != nil {
			return err
		}
		for _, a := range all {
			if err := s.replan(tx, org, a, p, last); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetCollection implements [posture.PlanStore].
func (s *Store) SetCollection(ctx context.Context, org posture.OrgID, id posture.AccountID, c posture.CollectionSettings, ifMatch string) (a posture.Account, err error) {
	err = s.Onboard(ctx, org, func(t posture.OnboardingTx) error {
		tx := t.(*onboardTx).tx
		if a, err = t.Account(id); err != nil {
			return err
		}
		if err := a.CheckVersion(ifMatch); err != nil {
			return err
		}
		a = a.WithCollection(c, s.now())
		if err := t.SaveAccount(a); err != nil {
			return err
		}
		if a.Status.Value == posture.AccountDraft { // it is not collected
			return nil
		}
		p, err := collectionPlan(tx, org)
		if err != nil {
			return err
		}
		last, err := lastStarts(tx, org, id)
		if err != nil {
			return err
		}
		return s.replan(tx, org, a, p, last)
	})
	return a, err
}

// lastStarts returns when the newest runs of accounts started: of all accounts, or of a
// single one if the parameter only is not empty.
func lastStarts(tx *sqldb.Tx, org posture.OrgID, only posture.AccountID) (map[posture.AccountID]time.Time, error) {
	type start struct {
		account posture.AccountID
		at      int64
	}
	last := map[posture.AccountID]time.Time{}
	for r, err := range sqldb.Each(tx, func(row sqldb.Row) (r start, err error) {
		err = row.Scan(&r.account, &r.at)
		return r, err
	}, `
		SELECT account, max(started)
		FROM run
		WHERE org = $1 AND ($2 = '' OR account = $2)
		GROUP BY account`, org, only) {
		if err != nil {
			return nil, err
		}
		last[r.account] = sqldb.Time(r.at)
	}
	return last, nil
}

// replan plans the next run of an account after a change of its plan.
func (s *Store) replan(tx *sqldb.Tx, org posture.OrgID, a posture.Account, p posture.CollectionPlan, last map[posture.AccountID]time.Time) error {
	from, ok := last[a.ID]
	if !ok {
		from = s.now()
	}
	return setDue(tx, org, a.ID, a.Collection.Plan(p).Next(org, a.ID, from))
}

// planNext plans the next run of an account after its last one.
func planNext(tx *sqldb.Tx, org posture.OrgID, a posture.Account, last time.Time) error {
	p, err := collectionPlan(tx, org)
	if err != nil {
		return err
	}
	return setDue(tx, org, a.ID, a.Collection.Plan(p).Next(org, a.ID, last))
}

// setDue sets the time of an account's next collection. A zero time means none.
func setDue(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID, due time.Time) error {
	if due.IsZero() {
		_, err := tx.Exec(`DELETE FROM schedule WHERE org = $1 AND account = $2`, org, id)
		return err
	}
	_, err := tx.Exec(`
		INSERT INTO schedule (org, account, due)
		VALUES ($1, $2, $3)
		ON CONFLICT (org, account) DO UPDATE
		SET due = excluded.due`, org, id, sqldb.Millis(due))
	return err
}
