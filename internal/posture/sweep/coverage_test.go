package sweep_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/store"
	"vigil/internal/posture/sweep"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// pair is a cloud with two units that call the given list functions.
type pair struct {
	cloud
	open         error
	first, later func(context.Context, collect.Emit) error
}

const firstType, laterType = posture.EntityType("AWS.S3.Bucket"), posture.EntityType("AWS.KMS.Key")

func (p *pair) Open(context.Context, posture.Access) (collect.Session, error) { return p, p.open }

func (p *pair) Units(context.Context) ([]collect.Unit, error) {
	return []collect.Unit{
		{Type: firstType, Region: posture.Global, List: p.first}, {Type: laterType, Region: "eu-west-1", List: p.later},
	}, nil
}

// TestUnreadScopesAreMarkedFailed ends runs in all ways but success. The scopes that
// they did not read completely must be marked as failed until the next successful run.
func TestUnreadScopesAreMarkedFailed(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context, _ collect.Emit) error {
		<-ctx.Done()
		return ctx.Err()
	}
	fails := func(context.Context, collect.Emit) error { return errors.New("out of order") }
	halfway := func(_ context.Context, emit collect.Emit) error {
		return errors.Join(emit(collect.NewResource(laterType, id, "eu-west-1", "k")), errors.New("cut off"))
	}
	for name, tt := range map[string]struct {
		cloud  pair
		lost   bool // whether the run's worker is lost
		failed []posture.EntityType
		reason string
	}{
		"a collector fails":                     {cloud: pair{first: noEntities, later: fails}, failed: []posture.EntityType{laterType}, reason: "out of order"},
		"a page is cut off":                     {cloud: pair{first: noEntities, later: halfway}, failed: []posture.EntityType{laterType}, reason: "cut off"},
		"the run times out in the second scope": {cloud: pair{first: noEntities, later: hang}, failed: []posture.EntityType{laterType}, reason: "in time"},
		"the run times out in the first scope":  {cloud: pair{first: hang, later: noEntities}, failed: []posture.EntityType{firstType, laterType}, reason: "in time"},
		"the session fails":                     {cloud: pair{open: errors.New("no way in")}, failed: []posture.EntityType{firstType, laterType}, reason: "no way in"},
		"the worker is lost":                    {lost: true, failed: []posture.EntityType{firstType, laterType}, reason: "lost its worker"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, dbtest.SQLite(t))
			s, st := newRecordingSweep(t, db, &pair{first: noEntities, later: noEntities})
			work(t, s, false)
			wantFailed(t, st, nil, "")
			// The store keeps milliseconds: wait, so that the next run begins later than this one ended.
			time.Sleep(2 * time.Millisecond)
			s.Runner.Sources[posture.AWS] = &tt.cloud
			s.Runner.Parallel, s.Deadline = 1, 200*time.Millisecond
			work(t, s, tt.lost)
			wantFailed(t, st, tt.failed, tt.reason)

			s.Runner.Sources[posture.AWS] = &pair{first: noEntities, later: noEntities}
			s.Deadline = time.Minute
			work(t, s, false)
			wantFailed(t, st, nil, "")
		})
	}
}

// TestRunOfARegionMarksGlobalScopes loses the worker of a run that is restricted to one
// region. Azure and GCP list all regions at once, so their global scopes were part of
// the run and are marked as failed.
func TestRunOfARegionMarksGlobalScopes(t *testing.T) {
	t.Parallel()
	s, st := newRecordingSweep(t, dbtest.Open(t, dbtest.SQLite(t)), &cloud{})
	// Whether the account's cloud has a type or region does not matter here.
	failed := map[posture.Scope]bool{
		{Type: "Azure.Storage.StorageAccount", Region: posture.Global}: true,
		{Type: "GCP.Compute.Network", Region: posture.Global}:          true,
		{Type: "AWS.S3.Bucket", Region: posture.Global}:                false,
		{Type: "AWS.EC2.Instance", Region: "westeurope"}:               true,
		{Type: "AWS.EC2.Instance", Region: "northeurope"}:              false,
	}
	for scope := range failed {
		recording, err := st.Begin(t.Context(), collect.Scoped{Org: org, Account: id, Type: scope.Type, Region: scope.Region})
		if err == nil {
			err = recording.Commit(t.Context(), true)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// The store keeps milliseconds: wait, so that the run begins later than these scopes were read.
	time.Sleep(2 * time.Millisecond)
	r, err := s.Start(t.Context(), org, id, posture.RunScope{Regions: []string{"westeurope"}})
	if err == nil {
		err = s.Work(t.Context(), org, r.ID, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := st.Coverage(t.Context(), org, id)
	if err != nil || len(all) != len(failed) {
		t.Fatalf("coverage %v, %v", all, err)
	}
	for _, c := range all {
		if want := failed[posture.Scope{Type: c.Type, Region: c.Region}]; c.Current() == want {
			t.Errorf("%s of %s: failed is %v, want %v", c.Type, c.Region, !c.Current(), want)
		}
	}
}

// newRecordingSweep returns a sweep over a source that records to its store, and the store.
func newRecordingSweep(t *testing.T, db *sqldb.DB, c collect.Source) (*sweep.Sweep, *store.Store) {
	t.Helper()
	s := newSweep(t, db, noEntities)
	st := s.Store.(*store.Store)
	s.Runner.Sources[posture.AWS], s.Runner.Recorder, s.Lease = c, st, time.Minute
	return s, st
}

// work continues the run that is in progress, or starts one. If lost is set, the run has
// lost its previous worker: it ends, and another run starts.
func work(t *testing.T, s *sweep.Sweep, lost bool) {
	t.Helper()
	runs, _, err := s.Store.Runs(t.Context(), org, posture.RunFilter{}, posture.Page{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	run := ""
	if len(runs) > 0 && runs[0].Status == posture.RunStarted {
		run = runs[0].ID
	} else {
		run = start(t, s).ID
	}
	if err := s.Work(t.Context(), org, run, lost); err != nil {
		t.Fatal(err)
	}
}

func wantFailed(t *testing.T, s *store.Store, want []posture.EntityType, reason string) {
	t.Helper()
	all, err := s.Coverage(t.Context(), org, id)
	if err != nil || len(all) != 2 {
		t.Fatalf("coverage %v, %v", all, err)
	}
	var failed []posture.EntityType
	for _, c := range all {
		if c.Current() {
			continue
		}
		failed = append(failed, c.Type)
		if !strings.Contains(c.Why, reason) {
			t.Errorf("%s failed because %q, want %q", c.Type, c.Why, reason)
		}
	}
	slices.Sort(failed)
	if want := slices.Sorted(slices.Values(want)); !slices.Equal(failed, want) {
		t.Errorf("the scopes of %v failed, want those of %v", failed, want)
	}
}
