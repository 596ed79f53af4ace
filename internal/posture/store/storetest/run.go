package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func newRun(id string, account posture.AccountID, start time.Time) posture.Run {
	return posture.Run{
		ID: id, Provider: posture.AWS, Account: account, Scope: posture.RunScope{Regions: []string{"eu-west-1"}},
		Status: posture.RunStarted, Start: start, Updated: start, Collectors: map[posture.EntityType]posture.CollectorResult{},
	}
}

// startRuns adds an active account, starts runs of it with a lease until a minute after
// begin, and ends all but the last.
func startRuns(t *testing.T, f Fixture, account posture.AccountID, runs ...posture.Run) {
	t.Helper()
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		return tx.AddAccount(newAccount(account, func(a *posture.Account) { a.Status.Value = posture.AccountActive }))
	})
	for i, r := range runs {
		if err := f.Store.StartRun(t.Context(), org, r, begin.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if i < len(runs)-1 {
			endRun(t, f, r)
		}
	}
}

func endRun(t *testing.T, f Fixture, r posture.Run) {
	t.Helper()
	r.Status, r.End = posture.RunCompleted, r.Start.Add(time.Second)
	err := f.Store.EndRun(t.Context(), org, r, func(_ posture.OnboardingTx, a posture.Account) (posture.Account, error) {
		return a.WithRun(r.Status, r.End), nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func runRoundTrips(t *testing.T, f Fixture) {
	r := newRun("r1", "a", begin)
	startRuns(t, f, "a", r)
	wantSame(t, "enqueued run", f.Enqueued(), []string{"r1"})
	r.Updated, r.Done, r.Units, r.Entities = begin.Add(time.Second), 1, 2, 3
	r.Collectors["AWS.S3.Bucket"] = posture.CollectorResult{Status: posture.CollectorErrors, Errors: []string{"denied"}, Entities: 3, NotEnabled: []string{"eu-central-2"}, NotOffered: []string{"ca-west-1"}, Gone: 2}
	if stop, err := f.Store.RenewRun(t.Context(), org, r, begin.Add(time.Hour)); stop || err != nil {
		t.Fatalf("RenewRun = %v, %v", stop, err)
	}
	got, err := f.Store.Run(t.Context(), org, "r1")
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "run", got, r)
	_, err = f.Store.Run(t.Context(), other, "r1")
	wantKind(t, "Run of another organisation", err, fault.NotFound)
}

func oneRunAtATime(t *testing.T, f Fixture) {
	startRuns(t, f, "a", newRun("r1", "a", begin))
	err := f.Store.StartRun(t.Context(), org, newRun("r2", "a", begin), begin)
	wantKind(t, "second run", err, fault.Conflict)
	err = f.Store.StartRun(t.Context(), org, newRun("r3", "unknown", begin), begin)
	wantKind(t, "run without an account", err, fault.NotFound)
	endRun(t, f, newRun("r1", "a", begin))
	if err := f.Store.StartRun(t.Context(), org, newRun("r2", "a", begin), begin); err != nil {
		t.Errorf("run after the first has ended: %v", err)
	}
}

func runEndsOnce(t *testing.T, f Fixture) {
	r := newRun("r1", "a", begin)
	startRuns(t, f, "a", r)
	endRun(t, f, r)
	a, err := f.Store.Account(t.Context(), org, "a")
	if err != nil || a.LastRun != posture.RunCompleted || a.Rollup.Value != posture.RollupReview {
		// The rollup is "review" because the event stream of newAccount was connected once and is not any more.
		t.Errorf("account after the run: %s, %s, %v; want completed, review", a.LastRun, a.Rollup.Value, err)
	}
	unchanged := func(_ posture.OnboardingTx, a posture.Account) (posture.Account, error) { return a, nil }
	wantKind(t, "ending a run again", f.Store.EndRun(t.Context(), org, r, unchanged), fault.NotFound)
	_, err = f.Store.RenewRun(t.Context(), org, r, begin)
	wantKind(t, "renewing the lease of a run that has ended", err, fault.NotFound)

	// Removing the account ends its run.
	r = newRun("r2", "a", begin.Add(time.Hour))
	if err := f.Store.StartRun(t.Context(), org, r, begin); err != nil {
		t.Fatal(err)
	}
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.RemoveAccount("a") })
	if got, err := f.Store.Run(t.Context(), org, "r2"); err != nil || got.Status != posture.RunFailed || got.End.IsZero() {
		t.Errorf("run of a removed account: %s until %s, %v; want it to have failed", got.Status, got.End, err)
	}
	_, err = f.Store.RenewRun(t.Context(), org, r, begin)
	wantKind(t, "renewing the lease of a removed account's run", err, fault.NotFound)

	// The account can be added again and collected immediately.
	startRuns(t, f, "a", newRun("r3", "a", begin.Add(2*time.Hour)))
}

func runsArePagedNewestFirst(t *testing.T, f Fixture) {
	var runs []posture.Run
	for i := range 9 { // some start at the same time
		runs = append(runs, newRun(fmt.Sprintf("r%d", i), "a", begin.Add(time.Duration(i/3)*time.Second)))
	}
	startRuns(t, f, "a", runs...)
	var seen []string
	for page := (posture.Page{Size: 2}); ; {
		got, total, err := f.Store.Runs(t.Context(), org, posture.RunFilter{Account: "a", Provider: posture.AWS}, page)
		if err != nil || total != 9 {
			t.Fatalf("Runs: total %d, %v; want 9", total, err)
		}
		if len(got) == 0 {
			break
		}
		for _, r := range got {
			seen = append(seen, r.ID)
			page.After = r.Place()
		}
	}
	wantSame(t, "order", seen, []string{"r8", "r7", "r6", "r5", "r4", "r3", "r2", "r1", "r0"})
	for name, filter := range map[string]posture.RunFilter{
		"provider": {Provider: posture.GCP}, "account": {Account: "b"}, "time": {Since: begin.Add(time.Hour)},
	} {
		if got, total, err := f.Store.Runs(t.Context(), org, filter, posture.Page{}); err != nil || total != 0 || len(got) != 0 {
			t.Errorf("filter by another %s: %d of %d, %v; want none", name, len(got), total, err)
		}
	}
}

func expiredRunsAreFound(t *testing.T, f Fixture) {
	startRuns(t, f, "a", newRun("r1", "a", begin))
	for _, tt := range []struct {
		at   time.Time
		want map[string]posture.OrgID
	}{
		{begin.Add(30 * time.Second), map[string]posture.OrgID{}},
		{begin.Add(2 * time.Minute), map[string]posture.OrgID{"r1": org}},
	} {
		got, err := f.Store.ExpiredRuns(t.Context(), tt.at)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, "runs whose lease has expired "+tt.at.Sub(begin).String()+" after begin", got, tt.want)
	}
}

func stopRequestIsReturned(t *testing.T, f Fixture) {
	r := newRun("r1", "a", begin)
	startRuns(t, f, "a", r)
	wantKind(t, "stopping a run that is not in progress", f.Store.StopRun(t.Context(), org, "a", "r2"), fault.NotFound)
	wantKind(t, "stopping the run of another organisation", f.Store.StopRun(t.Context(), other, "a", "r1"), fault.NotFound)
	if err := f.Store.StopRun(t.Context(), org, "a", "r1"); err != nil {
		t.Fatal(err)
	}
	if stop, err := f.Store.RenewRun(t.Context(), org, r, begin); !stop || err != nil {
		t.Errorf("RenewRun = %v, %v; want true, because a stop was requested", stop, err)
	}
}

func dueAccountsAreSorted(t *testing.T, f Fixture) {
	for i, id := range []posture.AccountID{"a", "b", "c"} {
		r := newRun("r"+string(id), id, begin.Add(-time.Duration(i)*time.Hour))
		startRuns(t, f, id, r)
		endRun(t, f, r)
	}
	change(t, f.Store, func(tx posture.OnboardingTx) error {
		b, err := tx.Account("b")
		if err != nil {
			return err
		}
		return tx.SaveAccount(b.WithStatus(posture.AccountDraft, "", begin))
	})
	schedules, err := f.Store.Schedules(t.Context(), org, "")
	if err != nil {
		t.Fatal(err)
	}
	var want []posture.AccountRef
	for _, id := range []posture.AccountID{"a", "c"} { // drafts are not collected
		want = append(want, posture.AccountRef{Org: org, Account: id})
	}
	slices.SortFunc(want, func(x, y posture.AccountRef) int { return schedules[x.Account].Next.Compare(schedules[y.Account].Next) })
	for _, tt := range []struct {
		at   time.Time
		want []posture.AccountRef
	}{
		{begin.Add(-2 * time.Hour), nil},
		{schedules[want[0].Account].Next, want[:1]},
		{begin.Add(posture.Interval + time.Hour), want},
	} {
		got, err := f.Store.DueAccounts(t.Context(), tt.at, 10)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, "accounts due at "+tt.at.String(), got, tt.want)
	}
}

// next returns when an account is collected next.
func next(t *testing.T, f Fixture, id posture.AccountID) time.Time {
	t.Helper()
	schedules, err := f.Store.Schedules(t.Context(), org, id)
	if err != nil {
		t.Fatal(err)
	}
	return schedules[id].Next
}

func plansSetTheNextRun(t *testing.T, f Fixture) {
	startRuns(t, f, "a", newRun("ra", "a", begin))
	startRuns(t, f, "b", newRun("rb", "b", begin))
	got, err := f.Store.CollectionPlan(t.Context(), org)
	if err != nil || got != posture.DefaultPlan {
		t.Fatalf("CollectionPlan = %+v, %v, want the default", got, err)
	}
	wantSame(t, "default next run", next(t, f, "a"), posture.DefaultPlan.Next(org, "a", begin))
	set := func(id posture.AccountID, s posture.CollectionSettings) posture.Account {
		t.Helper()
		a, err := f.Store.SetCollection(t.Context(), org, id, s, "")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	own := posture.CollectionSettings{EveryHours: 1, Regions: []string{"eu-west-1", "us-east-1"}}
	changed := set("a", own)
	stored, err := f.Store.Account(t.Context(), org, "a")
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "settings", stored.Collection, own)
	wantSame(t, "ETag", stored.ETag, changed.ETag)
	wantSame(t, "own next run", next(t, f, "a"), posture.CollectionPlan{EveryHours: 1}.Next(org, "a", begin))

	weekly := posture.CollectionPlan{EveryHours: posture.MaxEveryHours, Paused: true}
	if err := f.Store.SetCollectionPlan(t.Context(), org, weekly); err != nil {
		t.Fatal(err)
	}
	if n := next(t, f, "a"); !n.IsZero() {
		t.Errorf("a paused account is due at %v", n)
	}
	wantSame(t, "number of accounts due while the plan is paused", len(dueAt(t, f, begin.AddDate(1, 0, 0))), 0)
	notPaused := false // overrides the pause of the plan
	set("b", posture.CollectionSettings{Paused: &notPaused})
	wantSame(t, "next run of an account that is not paused", next(t, f, "b"), posture.CollectionPlan{EveryHours: posture.MaxEveryHours}.Next(org, "b", begin))
	endRun(t, f, newRun("ra", "a", begin))
	if n := next(t, f, "a"); !n.IsZero() {
		t.Errorf("a paused account is due at %v after a run", n)
	}
	weekly.Paused = false
	if err := f.Store.SetCollectionPlan(t.Context(), org, weekly); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "next run after the pause", next(t, f, "a"), posture.CollectionPlan{EveryHours: 1}.Next(org, "a", begin))
	paused := true
	set("a", posture.CollectionSettings{Paused: &paused})
	wantSame(t, "due accounts while a is paused", dueAt(t, f, begin.AddDate(1, 0, 0)), []posture.AccountRef{{Org: org, Account: "b"}})

	_, err = f.Store.SetCollection(t.Context(), org, "a", own, `"stale"`)
	wantKind(t, "settings with an old ETag", err, fault.Stale)
	_, err = f.Store.SetCollection(t.Context(), other, "a", own, "")
	wantKind(t, "settings of an account of another organisation", err, fault.NotFound)
	if got, err := f.Store.CollectionPlan(t.Context(), other); err != nil || got != posture.DefaultPlan {
		t.Errorf("plan of the other organisation = %+v, %v; want the default", got, err)
	}
}

func dueAt(t *testing.T, f Fixture, at time.Time) []posture.AccountRef {
	t.Helper()
	got, err := f.Store.DueAccounts(t.Context(), at, 10)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func oldRunsAreDeleted(t *testing.T, f Fixture) {
	startRuns(t, f, "a", newRun("old", "a", begin.Add(-posture.History)), newRun("new", "a", begin), newRun("running", "a", begin.Add(-posture.History)))
	if err := f.Store.ForgetRuns(t.Context(), begin.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	got, _, err := f.Store.Runs(t.Context(), org, posture.RunFilter{}, posture.Page{})
	if err != nil || len(got) != 2 || got[0].ID != "new" || got[1].ID != "running" {
		t.Errorf("Runs = %v, %v; want the new one, and the old one that has not ended", got, err)
	}
}
