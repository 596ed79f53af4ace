package store

import (
	"context"
	"slices"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// muteLock is the lock of an organisation's mute rules. Changes of mute rules take it
// exclusively and Observe takes it shared, so that a finding that is created
// concurrently is matched by one of them.
func muteLock(org posture.OrgID) string { return "mute/" + string(org) }

func scanMuteRule(row sqldb.Row) (m posture.MuteRule, err error) {
	var text string
	if err := row.Scan(&text); err != nil {
		return m, err
	}
	err = fromJSON(text, &m)
	return m, err
}

// MuteRules implements [posture.MuteStore].
func (s *Store) MuteRules(ctx context.Context, org posture.OrgID) (all []posture.MuteRule, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, scanMuteRule, `SELECT record FROM mute_rule WHERE org = $1 ORDER BY name, id`, org)
		return err
	})
	return all, err
}

// mutesInForce returns the mute rules that are in force at a time. Those without an end
// come first, so that a finding gets the longest suppression.
func mutesInForce(tx *sqldb.Tx, org posture.OrgID, at time.Time) ([]posture.MuteRule, error) {
	return sqldb.Query(tx, scanMuteRule, `SELECT record FROM mute_rule WHERE org = $1 AND until > $2 ORDER BY until DESC, id`, org, sqldb.Millis(at))
}

// muteOf returns the first mute rule that matches a finding.
func muteOf(mutes []posture.MuteRule, f posture.Finding) (posture.MuteRule, bool) {
	i := slices.IndexFunc(mutes, func(m posture.MuteRule) bool { return m.Scope.Matches(f) })
	if i < 0 {
		return posture.MuteRule{}, false
	}
	return mutes[i], true
}

// mutedUntil returns the value of the column until for a mute rule.
func mutedUntil(m posture.MuteRule) int64 {
	return suppressedUntil(posture.Suppression{Until: m.Until})
}

// MuteRule implements [posture.MuteStore].
func (s *Store) MuteRule(ctx context.Context, org posture.OrgID, id posture.MuteRuleID) (m posture.MuteRule, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		m, err = muteRule(tx, org, id)
		return err
	})
	return m, err
}

func muteRule(tx *sqldb.Tx, org posture.OrgID, id posture.MuteRuleID) (posture.MuteRule, error) {
	m, err := sqldb.QueryOne(tx, scanMuteRule, `SELECT record FROM mute_rule WHERE org = $1 AND id = $2`, org, id)
	if sqldb.Missing(err) {
		err = posture.MuteRuleNotFound(id)
	}
	return m, err
}

func saveMuteRule(tx *sqldb.Tx, org posture.OrgID, m posture.MuteRule) error {
	_, err := tx.Exec(`
		INSERT INTO mute_rule (org, id, name, until, record)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org, id) DO UPDATE
		SET name = excluded.name, until = excluded.until, record = excluded.record`,
		org, m.ID, m.Name, mutedUntil(m), toJSON(m))
	return err
}

// noLock is the lock of openInScope that locks nothing.
const noLock = ""

// openInScope calls f for the open findings in a scope, those with the highest risk
// first. lock is tx.ForUpdate() to lock them, or noLock.
func openInScope(tx *sqldb.Tx, org posture.OrgID, s posture.MuteScope, lock string, f func(storedFinding) error) error {
	filter := posture.FindingFilter{Statuses: []posture.FindingStatus{posture.FindingOpen}, Accounts: sqldb.Strings(s.Accounts)}
	if len(s.Rules) > 0 { // in a filter, an empty list that is not nil would select nothing
		filter.Rules = s.Rules
	}
	where, args, _ := findingWhere(tx, org, filter, time.Time{}) // the filter does not depend on the time
	for k, err := range sqldb.Each(tx, scanStored, `SELECT `+findingColumns+`, n FROM finding WHERE `+where+` ORDER BY risk DESC, id`+lock, args...) {
		if err != nil {
			return err
		}
		if s.Matches(k.finding) {
			if err := f(k); err != nil {
				return err
			}
		}
	}
	return nil
}

// PreviewMute implements [posture.MuteStore].
func (s *Store) PreviewMute(ctx context.Context, org posture.OrgID, scope posture.MuteScope, now time.Time) (p posture.MutePreview, err error) {
	p = posture.MutePreview{ByLevel: map[posture.FindingLevel]int{}}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		return openInScope(tx, org, scope, noLock, func(k storedFinding) error {
			p.Matched++
			p.ByLevel[k.finding.Level]++
			if k.finding.Suppressed(now) {
				p.Suppressed++
			}
			if len(p.Sample) < posture.MuteSamples {
				p.Sample = append(p.Sample, k.finding)
			}
			return nil
		})
	})
	return p, err
}

// AddMuteRule implements [posture.MuteStore].
func (s *Store) AddMuteRule(ctx context.Context, org posture.OrgID, m posture.MuteRule) (changed int, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock(muteLock(org)); err != nil {
			return err
		}
		n, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM mute_rule WHERE org = $1`, org)
		if err != nil {
			return err
		}
		if n >= posture.MaxMuteRules {
			return fault.New(fault.Conflict, "there are %d mute rules; delete one first", n)
		}
		if err := saveMuteRule(tx, org, m); err != nil {
			return err
		}
		changed, err = mute(tx, org, m, m.Created)
		return err
	})
	return changed, err
}

// mute suppresses the open findings in the scope of a mute rule that are not suppressed, or
// only by a mute rule that ends earlier. A mute rule that is not in force suppresses none.
func mute(tx *sqldb.Tx, org posture.OrgID, m posture.MuteRule, at time.Time) (int, error) {
	if !m.InForce(at) {
		return 0, nil
	}
	var found []storedFinding
	err := openInScope(tx, org, m.Scope, tx.ForUpdate(), func(k storedFinding) error {
		if s := k.finding.Suppression; k.finding.Suppressed(at) && (s.MuteRule == "" || suppressedUntil(*s) >= mutedUntil(m)) {
			return nil
		}
		if len(found) == posture.MaxMuted {
			return fault.New(fault.Invalid, "more than %d open findings match; narrow the scope, or disable the rules that raise them", posture.MaxMuted)
		}
		found = append(found, k)
		return nil
	})
	if err != nil {
		return 0, err
	}
	rows, events := suppressionRows(org, found, m.Suppression(at), m.By, at)
	return len(rows), saveSuppressions(tx, rows, events)
}

// mutedBy returns the findings that a mute rule has suppressed, open or not. The second
// condition on mute_rule lets the query use the partial index finding_mute.
func mutedBy(tx *sqldb.Tx, org posture.OrgID, id posture.MuteRuleID) ([]storedFinding, error) {
	return sqldb.Query(tx, scanStored, `SELECT `+findingColumns+`, n FROM finding WHERE org = $1 AND mute_rule = $2 AND mute_rule <> '' ORDER BY n`+tx.ForUpdate(), org, id)
}

// ReplaceMuteRule implements [posture.MuteStore].
func (s *Store) ReplaceMuteRule(ctx context.Context, org posture.OrgID, m posture.MuteRule, check func(etag string) error) (changed int, saved posture.MuteRule, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		old, err := lockedMuteRule(tx, org, m.ID, check)
		if err != nil {
			return err
		}
		saved = m
		saved.Created = old.Created
		if err := saveMuteRule(tx, org, saved); err != nil {
			return err
		}
		muted, err := mutedBy(tx, org, m.ID)
		if err != nil {
			return err
		}
		others, err := mutesInForce(tx, org, saved.Updated)
		if err != nil {
			return err
		}
		others = slices.DeleteFunc(others, func(other posture.MuteRule) bool { return other.ID == saved.ID })
		// Findings in renewed stay with the rule and get its new suppression. Those in leaving go to
		// another rule or are released. The suppression of any others stays unchanged.
		var renewed, leaving []storedFinding
		next := saved.Suppression(saved.Updated)
		for _, k := range muted {
			other, ok := muteOf(others, k.finding)
			switch {
			case !saved.Scope.Matches(k.finding) || ok && mutedUntil(other) > mutedUntil(saved):
				leaving = append(leaving, k)
			case !k.finding.Suppression.IsContinuedBy(*next):
				renewed = append(renewed, k)
			}
		}
		rows, events := suppressionRows(org, renewed, next, saved.By, saved.Updated)
		if err := saveSuppressions(tx, rows, events); err != nil {
			return err
		}
		left, err := handOver(tx, org, others, leaving, saved.Updated)
		if err != nil {
			return err
		}
		joined, err := mute(tx, org, saved, saved.Updated)
		changed = len(rows) + left + joined
		return err
	})
	return changed, saved, err
}

// lockedMuteRule reads and locks a mute rule for a change.
func lockedMuteRule(tx *sqldb.Tx, org posture.OrgID, id posture.MuteRuleID, check func(etag string) error) (posture.MuteRule, error) {
	if err := tx.Lock(muteLock(org)); err != nil {
		return posture.MuteRule{}, err
	}
	m, err := muteRule(tx, org, id)
	if err == nil {
		err = check(m.ETag)
	}
	return m, err
}

// handOver transfers findings to the first of some mute rules that matches, or ends their
// suppression.
func handOver(tx *sqldb.Tx, org posture.OrgID, mutes []posture.MuteRule, found []storedFinding, at time.Time) (int, error) {
	var free []storedFinding
	reassigned := map[posture.MuteRuleID][]storedFinding{}
	for _, k := range found {
		if m, ok := muteOf(mutes, k.finding); ok {
			reassigned[m.ID] = append(reassigned[m.ID], k)
		} else {
			free = append(free, k)
		}
	}
	rows, events := suppressionRows(org, free, nil, "", at)
	for _, m := range mutes {
		r, e := suppressionRows(org, reassigned[m.ID], m.Suppression(at), m.By, at)
		rows, events = append(rows, r...), append(events, e...)
	}
	return len(rows), saveSuppressions(tx, rows, events)
}

// DeleteMuteRule implements [posture.MuteStore].
func (s *Store) DeleteMuteRule(ctx context.Context, org posture.OrgID, id posture.MuteRuleID, check func(etag string) error, at time.Time) (changed int, old posture.MuteRule, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if old, err = lockedMuteRule(tx, org, id, check); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM mute_rule WHERE org = $1 AND id = $2`, org, id); err != nil {
			return err
		}
		muted, err := mutedBy(tx, org, id)
		if err != nil {
			return err
		}
		others, err := mutesInForce(tx, org, at)
		if err != nil {
			return err
		}
		changed, err = handOver(tx, org, others, muted, at)
		return err
	})
	return changed, old, err
}
