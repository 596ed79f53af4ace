package storetest

import (
	"fmt"
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

// startRuns adds an active account, starts runs of it, and ends all but the last.
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
	err := f.Store.EndRun(t.Context(), org, r, r.End.Add(posture.Interval), func(a posture.Account) posture.Account {
		return a.WithRun(r.Status, r.End)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func runComesBackWhole(t *testing.T, f Fixture) {
	r := newRun("r1", "a", begin)
	startRuns(t, f, "a", r)
	wantSame(t, "asked for", f.Asked(), []posture.AccountID{"r1"})
	r.Updated, r.Done, r.Units, r.Entities = begin.Add(time.Second), 1, 2, 3
	r.Collectors["AWS.S3.Bucket"] = posture.CollectorResult{Status: posture.CollectorErrors, Errors: []string{"denied"}, Entities: 3, NotEnabled: []string{"eu-central-2"}, NotOffered: []string{"ca-west-1"}}
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

func oneRunGoesOnAtATime(t *testing.T, f Fixture) {
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
	if err != nil || a.LastRun != posture.RunCompleted || a.Rollup.Value != posture.RollupReview { // its event stream was disconnected
		t.Errorf("account after the run: %s, %s, %v", a.LastRun, a.Rollup.Value, err)
	}
	unchanged := func(a posture.Account) posture.Account { return a }
	wantKind(t, "ending it again", f.Store.EndRun(t.Context(), org, r, begin, unchanged), fault.NotFound)
	_, err = f.Store.RenewRun(t.Context(), org, r, begin)
	wantKind(t, "keeping it", err, fault.NotFound)

	// Removing the account ends its run.
	r = newRun("r2", "a", begin.Add(time.Hour))
	if err := f.Store.StartRun(t.Context(), org, r, begin); err != nil {
		t.Fatal(err)
	}
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.RemoveAccount("a") })
	if got, err := f.Store.Run(t.Context(), org, "r2"); err != nil || got.Status != posture.RunFailed || got.End.IsZero() {
		t.Errorf("run of a removed account: %s, %v", got.Status, err)
	}
	_, err = f.Store.RenewRun(t.Context(), org, r, begin)
	wantKind(t, "keeping the run of a removed account", err, fault.NotFound)

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
			t.Fatalf("Runs = %d, %v", total, err)
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
			t.Errorf("filter by %s: %d of %d, %v", name, len(got), total, err)
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
		wantSame(t, "expired", got, tt.want)
	}
}

func stoppedRunIsToldSo(t *testing.T, f Fixture) {
	r := newRun("r1", "a", begin)
	startRuns(t, f, "a", r)
	wantKind(t, "stopping another", f.Store.StopRun(t.Context(), org, "a", "r2"), fault.NotFound)
	wantKind(t, "stopping from outside", f.Store.StopRun(t.Context(), other, "a", "r1"), fault.NotFound)
	if err := f.Store.StopRun(t.Context(), org, "a", "r1"); err != nil {
		t.Fatal(err)
	}
	if stop, err := f.Store.RenewRun(t.Context(), org, r, begin); !stop || err != nil {
		t.Errorf("RenewRun = %v, %v, want to be stopped", stop, err)
	}
}

func dueAccountsComeInOrder(t *testing.T, f Fixture) {
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
	for _, tt := range []struct {
		at   time.Time
		want []posture.AccountRef
	}{
		{begin.Add(posture.Interval - 3*time.Hour), nil},
		{begin.Add(posture.Interval + time.Hour), []posture.AccountRef{{Org: org, Account: "c"}, {Org: org, Account: "a"}}},
	} {
		got, err := f.Store.DueAccounts(t.Context(), tt.at, 10)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, "due", got, tt.want)
	}
}

func oldRunsAreForgotten(t *testing.T, f Fixture) {
	startRuns(t, f, "a", newRun("old", "a", begin.Add(-posture.History)), newRun("new", "a", begin), newRun("going", "a", begin.Add(-posture.History)))
	if err := f.Store.ForgetRuns(t.Context(), begin.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	got, _, err := f.Store.Runs(t.Context(), org, posture.RunFilter{}, posture.Page{})
	if err != nil || len(got) != 2 || got[0].ID != "new" || got[1].ID != "going" {
		t.Errorf("Runs = %v, %v", got, err)
	}
}
