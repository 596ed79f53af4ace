// Package judgetest collects an account of a simulated cloud and evaluates rules, and
// checks that findings do not change when the cloud cannot be read.
package judgetest

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"vigil/frameworks"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/judge"
	"vigil/internal/posture/rulebook"
	"vigil/internal/posture/store"
	"vigil/internal/posture/sweep"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
	"vigil/rules"
)

// A Cloud is a simulated cloud with an account to read.
type Cloud struct {
	Source collect.Source
	Access posture.Access
	Today  time.Time // of its world

	// Change fixes one violation of a rule and causes another.
	Change func() error
	// Break makes the calls that read these two resources fail until it is undone.
	Break func(Trouble) (undo func())
}

// Trouble is the way in which calls fail.
type Trouble string

// The troubles.
const (
	Denied  Trouble = "a denied call"
	Failed  Trouble = "a failed collector"
	Timeout Trouble = "a timed-out run"
	Partial Trouble = "a partial page"
)

// NeverWrong reads a cloud that has changed while calls fail: no finding may be raised
// or resolved. When calls succeed again, one finding is raised and one resolved.
func NeverWrong(t *testing.T, c Cloud) {
	l := newLine(t, c)
	if status := l.run(time.Minute); status != posture.RunCompleted {
		t.Fatalf("the first run is %s", status)
	}
	before := l.findings()
	if len(before) == 0 {
		t.Fatal("the first run finds nothing")
	}
	if err := c.Change(); err != nil {
		t.Fatal(err)
	}
	for _, trouble := range []Trouble{Denied, Failed, Timeout, Partial} {
		t.Run(string(trouble), func(t *testing.T) {
			deadline := time.Minute
			if trouble == Timeout {
				deadline = 2 * time.Second
			}
			undo := c.Break(trouble)
			status := l.run(deadline)
			undo()
			if want := posture.RunCompletedWithErrors; trouble != Timeout && status != want || trouble == Timeout && status != posture.RunTimeout {
				t.Errorf("the run is %s", status)
			}
			if diff := cmp.Diff(before, l.findings()); diff != "" {
				t.Errorf("findings (-before +after):\n%s", diff)
			}
		})
	}
	if status := l.run(time.Minute); status != posture.RunCompleted {
		t.Fatalf("the last run is %s", status)
	}
	raised, resolved := 0, 0
	after := l.findings()
	for id, f := range after {
		switch old, ok := before[id]; {
		case !ok && f.Status == posture.FindingOpen:
			raised++
		case ok && old.Status == posture.FindingOpen && f.Status == posture.FindingResolved:
			resolved++
		}
	}
	if raised == 0 || resolved == 0 {
		t.Errorf("after calls succeed again, %d findings are raised and %d resolved", raised, resolved)
	}
}

// A line is the pipeline from a cloud to findings: store, runner and judge.
type line struct {
	t     *testing.T
	cloud Cloud
	store *store.Store
	sweep *sweep.Sweep
	judge *judge.Judge
}

// idle is a job queue that discards jobs: the test executes them itself.
type idle struct{}

func (idle) Validate(*sqldb.Tx, posture.OrgID, posture.AccountID) error { return nil }
func (idle) Collect(*sqldb.Tx, posture.OrgID, posture.Run) error        { return nil }
func (idle) Judge(*sqldb.Tx, posture.OrgID, posture.AccountID) error    { return nil }
func (idle) Remove(*sqldb.Tx, posture.OrgID, posture.AccountID) error   { return nil }
func (idle) JudgeRule(*sqldb.Tx, posture.OrgID, posture.RuleID) error   { return nil }

// shippedRules are the rules that come with Vigil, loaded once for all tests.
var shippedRules = sync.OnceValues(func() (*catalog.Catalog, error) { return catalog.Load(rules.Files, frameworks.Files) })

func newLine(t *testing.T, c Cloud) *line {
	t.Helper()
	db := dbtest.Open(t, dbtest.SQLite(t))
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	s := store.New(db, secrettest.NewBox(t), idle{})
	log := slog.New(slog.DiscardHandler)
	known, err := shippedRules()
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, cloud: c, store: s}
	l.sweep = &sweep.Sweep{
		Store: s, Log: log, Now: time.Now, NewID: uuid.NewString, Lease: time.Minute,
		Runner: &collect.Runner{Sources: map[posture.Provider]collect.Source{c.Source.Provider(): c.Source}, Recorder: s, Parallel: 8, Log: log},
	}
	l.judge = &judge.Judge{
		Store: s, Book: &rulebook.Book{Catalog: known, Store: s, Now: time.Now}, Graphs: graphcache.New(s, graphcache.Options{}), Log: log, Now: time.Now,
		Evaluator: evaluate.New(catalog.Schema(c.Source.Declarations()), s, func() time.Time { return c.Today }),
	}
	return l.onboard()
}

// onboard adds the account and its credential.
func (l *line) onboard() *line {
	l.t.Helper()
	now, a, c := time.Now(), l.cloud.Access.Account, l.cloud.Access.Credential
	a = a.WithStream(posture.StreamDisconnected, now).WithStatus(posture.AccountActive, "", now)
	c.ID = "c"
	err := l.store.Onboard(l.t.Context(), l.cloud.Access.Org, func(tx posture.OnboardingTx) error {
		return errors.Join(tx.AddAccount(a), tx.SaveCredential(c, l.cloud.Access.Secrets), tx.AddLink(posture.NewLink(a, c, now)))
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return l
}

// run collects the account and judges it, first incrementally and then completely.
func (l *line) run(deadline time.Duration) posture.RunStatus {
	l.t.Helper()
	ctx, org, id := l.t.Context(), l.cloud.Access.Org, l.cloud.Access.Account.ID
	l.sweep.Deadline = deadline
	r, err := l.sweep.Start(ctx, org, id, posture.RunScope{})
	if err == nil {
		err = l.sweep.Work(ctx, org, r.ID, false)
	}
	if err == nil {
		err = errors.Join(l.judge.Change(ctx, org, id), l.judge.Account(ctx, org, id))
	}
	if err == nil {
		r, err = l.store.Run(ctx, org, r.ID)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return r.Status
}

// findings returns all findings of the account.
func (l *line) findings() map[posture.FindingID]posture.Finding {
	l.t.Helper()
	page, err := l.store.Findings(l.t.Context(), l.cloud.Access.Org, posture.FindingFilter{}, nil, posture.Page{}, time.Now())
	if err != nil {
		l.t.Fatal(err)
	}
	all := map[posture.FindingID]posture.Finding{}
	for _, f := range page.Findings {
		all[f.ID] = f
	}
	return all
}
