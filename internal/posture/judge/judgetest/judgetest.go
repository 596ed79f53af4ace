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
	Today  time.Time // the date in the simulated cloud

	// Change fixes a violation of one resource and causes a violation of another.
	Change func() error
	// Break makes the calls that read the two resources of Change fail, until undo is called.
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

// NeverWrong changes a cloud and reads it while calls fail: no finding may be raised or
// resolved. When calls succeed again, findings must be raised and resolved.
func NeverWrong(t *testing.T, c Cloud) {
	p := newPipeline(t, c)
	if status := p.run(time.Minute); status != posture.RunCompleted {
		t.Fatalf("the first run is %s", status)
	}
	before := p.findings()
	if len(before) == 0 {
		t.Fatal("the first run finds nothing")
	}
	if err := c.Change(); err != nil {
		t.Fatal(err)
	}
	for _, trouble := range []Trouble{Denied, Failed, Timeout, Partial} {
		t.Run(string(trouble), func(t *testing.T) {
			deadline, want := time.Minute, posture.RunCompletedWithErrors
			if trouble == Timeout {
				deadline, want = 2*time.Second, posture.RunTimeout
			}
			undo := c.Break(trouble)
			status := p.run(deadline)
			undo()
			if status != want {
				t.Errorf("the run is %s, want %s", status, want)
			}
			if diff := cmp.Diff(before, p.findings()); diff != "" {
				t.Errorf("findings (-before +after):\n%s", diff)
			}
		})
	}
	if status := p.run(time.Minute); status != posture.RunCompleted {
		t.Fatalf("the last run is %s", status)
	}
	raised, resolved := 0, 0
	after := p.findings()
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

// A pipeline leads from a cloud to findings: store, runner and judge.
type pipeline struct {
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

func newPipeline(t *testing.T, c Cloud) *pipeline {
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
	p := &pipeline{t: t, cloud: c, store: s}
	p.sweep = &sweep.Sweep{
		Store: s, Log: log, Now: time.Now, NewID: uuid.NewString, Lease: time.Minute,
		Runner: &collect.Runner{Sources: map[posture.Provider]collect.Source{c.Source.Provider(): c.Source}, Recorder: s, Parallel: 8, Log: log},
	}
	p.judge = &judge.Judge{
		Store: s, Book: &rulebook.Book{Catalog: known, Store: s, Now: time.Now}, Graphs: graphcache.New(s, graphcache.Options{}), Log: log, Now: time.Now,
		Evaluator: evaluate.New(catalog.Schema(c.Source.Declarations()), s, func() time.Time { return c.Today }),
	}
	return p.onboard()
}

// onboard adds the account and its credential.
func (p *pipeline) onboard() *pipeline {
	p.t.Helper()
	now, a, c := time.Now(), p.cloud.Access.Account, p.cloud.Access.Credential
	a = a.WithStream(posture.StreamDisconnected, now).WithStatus(posture.AccountActive, "", now)
	c.ID = "c"
	err := p.store.Onboard(p.t.Context(), p.cloud.Access.Org, func(tx posture.OnboardingTx) error {
		return errors.Join(tx.AddAccount(a), tx.SaveCredential(c, p.cloud.Access.Secrets), tx.AddLink(posture.NewLink(a, c, now)))
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return p
}

// run collects the account and judges it, first incrementally and then completely.
func (p *pipeline) run(deadline time.Duration) posture.RunStatus {
	p.t.Helper()
	ctx, org, id := p.t.Context(), p.cloud.Access.Org, p.cloud.Access.Account.ID
	p.sweep.Deadline = deadline
	r, err := p.sweep.Start(ctx, org, id, posture.RunScope{})
	if err == nil {
		err = p.sweep.Work(ctx, org, r.ID, false)
	}
	if err == nil {
		err = errors.Join(p.judge.Change(ctx, org, id), p.judge.Account(ctx, org, id))
	}
	if err == nil {
		r, err = p.store.Run(ctx, org, r.ID)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return r.Status
}

// findings returns all findings of the account.
func (p *pipeline) findings() map[posture.FindingID]posture.Finding {
	p.t.Helper()
	page, err := p.store.Findings(p.t.Context(), p.cloud.Access.Org, posture.FindingFilter{}, nil, posture.Page{}, time.Now())
	if err != nil {
		p.t.Fatal(err)
	}
	all := map[posture.FindingID]posture.Finding{}
	for _, f := range page.Findings {
		all[f.ID] = f
	}
	return all
}
