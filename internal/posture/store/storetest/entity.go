package storetest

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// An EntityFixture is an empty store of entities under test.
type EntityFixture struct {
	Store EntityStore
	Clock *Clock // the clock of the store; it starts at begin: noon of 15 November 2026, UTC
}

// EntityStore is the store of entities and their accounts.
type EntityStore interface {
	collect.Recorder
	posture.OnboardingStore
	posture.EntityStore
	posture.PartitionStore
}

// A Clock is a clock that only tests advance.
type Clock struct{ T time.Time }

// Now returns the time.
func (c *Clock) Now() time.Time { return c.T }

// RunEntities runs the tests of entities on stores that open returns.
func RunEntities(t *testing.T, open func(t *testing.T) EntityFixture) {
	tests := map[string]func(*testing.T, EntityFixture){
		"EntityRoundTrips":                   entityRoundTrips,
		"SecondCollectionWritesNothing":      secondCollectionWritesNothing,
		"ChangesAreFoundAndLogged":           changesAreFoundAndLogged,
		"IncompleteCollectionRemovesNothing": incompleteCollectionRemovesNothing,
		"CompleteCollectionRemovesMissing":   completeCollectionRemovesMissing,
		"OtherScopesAreUnchanged":            otherScopesAreUnchanged,
		"RegionChanges":                      regionChanges,
		"NewerReadsWinOverCollections":       newerReadsWinOverCollections,
		"ReplaceChangesOnlyItsEntities":      replaceChangesOnlyItsEntities,
		"DiscardedRecordingLeavesNothing":    discardedRecordingLeavesNothing,
		"RemovedAccountHasNoEntities":        removedAccountHasNoEntities,
		"RecordingOfRemovedAccountFails":     recordingOfRemovedAccountFails,
		"EntityOfAnotherScopeFails":          entityOfAnotherScopeFails,
		"OldChangeLogsAreDeleted":            oldChangeLogsAreDeleted,
		"CoverageFollowsCommits":             coverageFollowsCommits,
		"ChangesSinceAGeneration":            changesSinceAGeneration,
		"SnapshotsAreReplacedByNewer":        snapshotsAreReplacedByNewer,
		"LargeCollectionSpills":              largeCollectionSpills,
		"ConcurrentCommits":                  concurrentCommits,
		"FeedHasEveryChangeOnce":             feedHasEveryChangeOnce,
		"FeedIsFiltered":                     feedIsFiltered,
		"FeedOfALargeCommitIsCut":            feedOfALargeCommitIsCut,
	}
	maps.Copy(tests, queryTests)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			onboard(t, f.Store, org, account)
			test(t, f)
		})
	}
}

const (
	account  = posture.AccountID("123456789012")
	instance = posture.EntityType("AWS.EC2.Instance")
	bucket   = posture.EntityType("AWS.S3.Bucket")
	east     = "us-east-1"
	west     = "us-west-2"
)

func onboard(t *testing.T, s posture.OnboardingStore, org posture.OrgID, id posture.AccountID) {
	t.Helper()
	err := s.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error { return tx.AddAccount(newAccount(id)) })
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, s posture.OnboardingStore, id posture.AccountID) {
	t.Helper()
	change(t, s, func(tx posture.OnboardingTx) error { return tx.RemoveAccount(id) })
}

// newEntity returns an instance with a property of every type. The edits change it before
// it is normalized.
func newEntity(region, name string, edit ...func(*posture.Entity)) posture.Entity {
	e := posture.Entity{
		ID: instance.ID(account, region, name), Type: instance, Name: "name of " + name,
		XID:     "arn:aws:ec2:" + region + ":" + string(account) + ":instance/" + name,
		Account: account, Provider: posture.AWS, Region: region, Service: "EC2",
		Properties: []posture.Property{
			posture.Number("cores", -4), posture.Flag("encrypted", true), posture.Text("image", "ami-1"),
			posture.Text("securityGroup", "sg-1"), posture.Text("securityGroup", "sg-2"), posture.Unknown("userData", "access denied"),
		},
		Tags: map[string]string{"env": "prod", "Team": "Blau & Grün"},
		Edges: []posture.Edge{
			{Label: "HAS_ROLE", To: "AWS.IAM.123456789012.global.Role.admin", Properties: []posture.Property{posture.Text("via", "profile")}},
			{Label: "IN_SUBNET", To: posture.EntityType("AWS.EC2.Subnet").ID(account, region, "subnet-1")},
		},
	}
	for _, f := range edit {
		f(&e)
	}
	e.Normalize()
	return e
}

func set(p posture.Property) func(*posture.Entity) {
	return func(e *posture.Entity) {
		for i := range e.Properties {
			if e.Properties[i].Name == p.Name {
				e.Properties[i] = p
				return
			}
		}
		e.Properties = append(e.Properties, p)
	}
}

func newScope(t posture.EntityType, region string) collect.Scoped {
	return collect.Scoped{Org: org, Account: account, Type: t, Region: region}
}

// record records entities as one unit of collection that read its scope completely.
func record(t *testing.T, s EntityStore, scope collect.Scoped, es ...posture.Entity) {
	t.Helper()
	if err := tryRecord(t.Context(), s, scope, true, es...); err != nil {
		t.Fatal(err)
	}
}

// recordIncomplete records entities as one unit of collection that could not read all of its scope.
func recordIncomplete(t *testing.T, s EntityStore, scope collect.Scoped, es ...posture.Entity) {
	t.Helper()
	if err := tryRecord(t.Context(), s, scope, false, es...); err != nil {
		t.Fatal(err)
	}
}

// tryRecord records entities as one unit of collection. complete says whether they are all
// entities of the scope.
func tryRecord(ctx context.Context, s EntityStore, scope collect.Scoped, complete bool, es ...posture.Entity) error {
	r, err := s.Begin(ctx, scope)
	if err != nil {
		return err
	}
	defer r.Discard()
	for _, e := range es {
		if err := r.Put(ctx, e); err != nil {
			return err
		}
	}
	return r.Commit(ctx, complete)
}

func generation(t *testing.T, s EntityStore) int64 {
	t.Helper()
	g, err := s.Generation(t.Context(), org, account)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// names returns the names of all entities in the order of EachEntity.
func names(t *testing.T, s EntityStore) []string {
	t.Helper()
	var all []string
	_, err := s.EachEntity(t.Context(), org, account, func(e posture.Entity) error {
		all = append(all, e.Name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func entityRoundTrips(t *testing.T, f EntityFixture) {
	want := newEntity(east, "i-1")
	record(t, f.Store, newScope(instance, east), want)
	want.Created, want.Updated = f.Clock.T, f.Clock.T
	got, err := f.Store.Entity(t.Context(), org, want.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "entity", got, want)
	entities, err := f.Store.EntitiesOf(t.Context(), org, account, []posture.EntityID{want.ID, "AWS.EC2.123456789012.us-east-1.Instance.none"})
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "entities of the account", entities, map[posture.EntityID]posture.Entity{want.ID: want})

	_, err = f.Store.Entity(t.Context(), other, want.ID)
	wantKind(t, "entity of another organisation", err, fault.NotFound)
	_, err = f.Store.Entity(t.Context(), org, want.ID+"x")
	wantKind(t, "unknown entity", err, fault.NotFound)
	_, err = f.Store.ChangeLog(t.Context(), other, want.ID)
	wantKind(t, "change log for another organisation", err, fault.NotFound)
}

func secondCollectionWritesNothing(t *testing.T, f EntityFixture) {
	var all []posture.Entity
	for i := range 1200 {
		all = append(all, newEntity(east, fmt.Sprintf("i-%d", i)))
	}
	record(t, f.Store, newScope(instance, east), all...)
	before := generation(t, f.Store)
	f.Clock.T = f.Clock.T.Add(time.Hour)
	record(t, f.Store, newScope(instance, east), append(all, all[7])...) // with a duplicate
	if g := generation(t, f.Store); g != before || before == 0 {
		t.Errorf("generation %d became %d, want the same one, not 0", before, g)
	}
	e, err := f.Store.Entity(t.Context(), org, all[3].ID)
	if err != nil || !e.Updated.Equal(begin) {
		t.Errorf("the entity was updated at %v, %v; want the time of the first collection", e.Updated, err)
	}
	changes, ok, err := f.Store.ChangesSince(t.Context(), org, account, before)
	if !ok || err != nil || len(changes.Changed)+len(changes.Gone) != 0 {
		t.Errorf("ChangesSince = %v, %v, %v; want no changes", changes, ok, err)
	}
}

func changesAreFoundAndLogged(t *testing.T, f EntityFixture) {
	first := newEntity(east, "i-1")
	record(t, f.Store, newScope(instance, east), first)
	f.Clock.T = f.Clock.T.Add(time.Hour)
	second := newEntity(east, "i-1", set(posture.Text("image", "ami-2")), set(posture.Text("owner", "ada")), func(e *posture.Entity) {
		e.Tags = map[string]string{"env": "test", "cost": "7"}
		e.Edges = e.Edges[:1]
	})
	record(t, f.Store, newScope(instance, east), second)

	second.Created, second.Updated = begin, f.Clock.T
	got, err := f.Store.Entity(t.Context(), org, second.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "entity", got, second)
	log, err := f.Store.ChangeLog(t.Context(), org, second.ID)
	if err != nil {
		t.Fatal(err)
	}
	added := posture.Compare(posture.Entity{}, first)
	added.At, added.Edges = begin, nil // the addition of an entity is logged without its edges
	wantSame(t, "log", log, []posture.EntityChange{
		{
			At: f.Clock.T, Cause: posture.CausedByCollection,
			Properties: map[string]posture.PropertyChange{
				"image": {Type: posture.Updated, Old: []posture.Property{posture.Text("image", "ami-1")}, New: []posture.Property{posture.Text("image", "ami-2")}},
				"owner": {Type: posture.Added, New: []posture.Property{posture.Text("owner", "ada")}},
			},
			Tags: map[string]posture.TagChange{
				"env":  {Type: posture.Updated, Old: "prod", New: "test"},
				"cost": {Type: posture.Added, New: "7"},
				"Team": {Type: posture.Deleted, Old: "Blau & Grün"},
			},
			Edges: []posture.EdgeChange{{Type: posture.Deleted, Label: "IN_SUBNET", To: first.Edges[1].To}},
		},
		added,
	})
}

func incompleteCollectionRemovesNothing(t *testing.T, f EntityFixture) {
	one, two := newEntity(east, "i-1"), newEntity(east, "i-2")
	record(t, f.Store, newScope(instance, east), one, two)
	recordIncomplete(t, f.Store, newScope(instance, east), newEntity(east, "i-2", set(posture.Text("image", "ami-9"))), newEntity(east, "i-3"))
	wantSame(t, "names", names(t, f.Store), []string{"name of i-1", "name of i-2", "name of i-3"})
}

func completeCollectionRemovesMissing(t *testing.T, f EntityFixture) {
	one, two := newEntity(east, "i-1"), newEntity(east, "i-2")
	record(t, f.Store, newScope(instance, east), one, two)
	f.Clock.T = f.Clock.T.Add(time.Hour)
	record(t, f.Store, newScope(instance, east), two)
	_, err := f.Store.Entity(t.Context(), org, one.ID)
	wantKind(t, "removed entity", err, fault.NotFound)

	log, err := f.Store.ChangeLog(t.Context(), org, one.ID)
	if err != nil || len(log) != 2 {
		t.Fatalf("log %v, %v; want the removal and the addition", log, err)
	}
	if log[0].Properties["image"].Type != posture.Deleted || log[1].Properties["image"].Type != posture.Added || !log[1].At.Equal(begin) {
		t.Errorf("log %v, want a deletion and, at %v, an addition", log, begin)
	}

	f.Clock.T = f.Clock.T.Add(time.Hour)
	record(t, f.Store, newScope(instance, east), one, two) // it is added again
	log, err = f.Store.ChangeLog(t.Context(), org, one.ID)
	if err != nil || len(log) != 3 || !log[0].At.Equal(f.Clock.T) || log[0].Tags["env"].Type != posture.Added {
		t.Errorf("log %v, %v; want a second addition before the other two changes", log, err)
	}
}
