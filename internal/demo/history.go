package demo

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"time"

	"vigil/internal/auth"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// historyDays is the length of the demo's simulated history.
const historyDays = 30

// findingHistory is the simulated history of one finding.
type findingHistory struct {
	n            int64
	rule, object string
	raised       time.Time      // when it was last raised
	episodes     [][2]time.Time // earlier periods from raised to resolved
}

// generateHistory generates the history of an organisation in the background,
// after all its accounts were evaluated.
func generateHistory(ctx context.Context, db *sqldb.DB, id auth.OrgID, accounts int, log *slog.Logger) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		judged := 0 // number of accounts that were evaluated
		err := db.Read(ctx, func(tx *sqldb.Tx) (err error) {
			judged, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM judged WHERE org = $1`, id)
			return err
		})
		if err == nil && judged >= accounts {
			err = backdateFindings(ctx, db, posture.OrgID(id), time.Now())
		}
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "generate the history of the demo", "error", err)
		}
		if err != nil || judged >= accounts {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	log.WarnContext(ctx, "the demo has no history: its accounts were not evaluated in time")
}

// backdateFindings distributes the findings of an organisation over the last month,
// as if the demo had run that long: the time at which each was raised is moved
// back, and some were raised and resolved before. Open findings stay open.
//
// It writes to the tables of findings directly, because the product cannot
// change the past.
func backdateFindings(ctx context.Context, db *sqldb.DB, org posture.OrgID, now time.Time) error {
	err := db.Write(ctx, func(tx *sqldb.Tx) error {
		found, err := sqldb.Query(tx, func(row sqldb.Row) (p findingHistory, err error) {
			err = row.Scan(&p.n, &p.rule, &p.object)
			return p, err
		}, `SELECT n, rule, object FROM finding WHERE org = $1 AND status = 'Open' ORDER BY n`, org)
		if err != nil {
			return err
		}
		var moved, events [][]any
		for _, p := range found {
			p.generate(now)
			raised := sqldb.Millis(p.raised)
			moved = append(moved, []any{p.n, raised})
			for _, e := range p.episodes {
				events = append(events, []any{string(org), p.n, sqldb.Millis(e[0]), "raised", ""}, []any{string(org), p.n, sqldb.Millis(e[1]), "resolved", ""})
			}
		}
		if _, err := tx.ExecEach(`UPDATE finding SET created = $2, updated = $2 WHERE n = $1`, slices.Values(moved)); err != nil {
			return err
		}
		if _, err := tx.ExecEach(`UPDATE finding_event SET at = $2 WHERE n = $1 AND what = 'raised'`, slices.Values(moved)); err != nil {
			return err
		}
		_, err = tx.Load("finding_event", []string{"org", "n", "at", "what", "who"}, slices.Values(events))
		return err
	})
	if err != nil {
		return fmt.Errorf("generate the history of the demo: %w", err)
	}
	return nil
}

// generate generates the history of a finding. Its pseudo-random numbers depend
// only on the rule and the resource, so that every demo has the same history. The
// id of the finding would not do: it depends on the organisation, which is new in
// every demo.
func (f *findingHistory) generate(now time.Time) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(f.rule + "\x00" + f.object))
	seed := h.Sum64()
	next := func(limit int) int { // a pseudo-random number below a limit (xorshift64)
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return int(seed % uint64(limit))
	}
	const minutesPerDay = 24 * 60
	upTo := func(days int) time.Duration { return time.Duration(1+next(days*minutesPerDay)) * time.Minute }
	// 45 % of the findings have existed since the start of the history.
	age := historyDays * 24 * time.Hour
	if next(100) < 55 {
		age = upTo(historyDays - 1)
	}
	f.raised = now.Add(-age)
	// Before that, one finding in three had an earlier episode, one in three of those
	// had another one before it, and so on. An episode that would begin before the
	// start of the history is left out, with all that precede it.
	for begin := f.raised; next(3) == 0; {
		resolved := begin.Add(-upTo(4))
		raised := resolved.Add(-upTo(6))
		if now.Sub(raised) > historyDays*24*time.Hour {
			return
		}
		f.episodes = append(f.episodes, [2]time.Time{raised, resolved})
		begin = raised
	}
}
