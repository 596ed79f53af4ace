package storetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

func otherScopesAreUnchanged(t *testing.T, f EntityFixture) {
	record(t, f.Store, newScope(instance, east), newEntity(east, "i-1"))
	record(t, f.Store, newScope(instance, west), newEntity(west, "i-2"))
	var buckets []posture.Entity
	for _, region := range []string{east, west} { // collected once for all regions
		buckets = append(buckets, newEntity(region, "b-"+region, func(e *posture.Entity) {
			e.Type, e.Service, e.ID = bucket, "S3", bucket.ID(account, "", "b-"+region)
		}))
	}
	record(t, f.Store, newScope(bucket, posture.Global), buckets...)
	record(t, f.Store, newScope(instance, east))
	wantSame(t, "names", names(t, f.Store), []string{"name of i-2", "name of b-us-east-1", "name of b-us-west-2"})
	record(t, f.Store, newScope(bucket, posture.Global), buckets[1])
	wantSame(t, "names", names(t, f.Store), []string{"name of i-2", "name of b-us-west-2"})

	// The collector now has one unit per region. The unit of us-west-2 reads no bucket, so it
	// deletes the one there, which the unit of all regions had recorded.
	record(t, f.Store, newScope(bucket, west))
	wantSame(t, "names", names(t, f.Store), []string{"name of i-2"})
}

func regionChanges(t *testing.T, f EntityFixture) {
	id := bucket.ID(account, "", "b")
	in := func(region, owner string) posture.Entity {
		return newEntity(region, "b", func(e *posture.Entity) {
			e.Type, e.Service, e.ID = bucket, "S3", id
			e.Properties = append(e.Properties, posture.Text("owner", owner))
		})
	}
	record(t, f.Store, newScope(bucket, posture.Global), in(east, "ada"))
	f.Clock.T = f.Clock.T.Add(time.Hour)
	record(t, f.Store, newScope(bucket, posture.Global), in(west, "bob"))
	e, err := f.Store.Entity(t.Context(), org, id)
	if err != nil || e.Region != west || !e.Created.Equal(begin) {
		t.Errorf("entity %v, %v; want the one created at first, now in %s", e, err, west)
	}
	wantSame(t, "names", names(t, f.Store), []string{"name of b"})
	log, err := f.Store.ChangeLog(t.Context(), org, id)
	if err != nil || len(log) != 2 || log[0].Properties["owner"].Type != posture.Updated {
		t.Errorf("log %v, %v; want one update after the addition", log, err)
	}
	changes, ok, err := f.Store.ChangesSince(t.Context(), org, account, 1)
	if !ok || err != nil || len(changes.Changed) != 1 || len(changes.Gone) != 0 {
		t.Errorf("ChangesSince = %v, %v, %v; want one changed entity and none gone", changes, ok, err)
	}
}

func newerReadsWinOverCollections(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	image := func(name, image string) posture.Entity {
		return newEntity(east, name, set(posture.Text("image", image)))
	}
	record(t, f.Store, newScope(instance, east), image("changed", "1"), image("gone", "1"), image("kept", "1"))

	r, err := f.Store.Begin(ctx, newScope(instance, east))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []posture.Entity{image("changed", "stale"), image("gone", "stale"), image("kept", "2"), image("new", "stale")} {
		if err := r.Put(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	scope := posture.Scope(newScope(instance, east))
	err = f.Store.Replace(ctx, scope, posture.ChangeOrigin{}, []posture.Entity{image("changed", "2"), image("new", "2"), image("newer", "2")}, []posture.EntityID{image("gone", "").ID})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(ctx, true); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if _, err := f.Store.EachEntity(ctx, org, account, func(e posture.Entity) error {
		got[strings.TrimPrefix(e.Name, "name of ")] = posture.Attribute{Kind: posture.PropertyAttribute, Name: "image"}.Values(&e)[0]
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "images", got, map[string]string{"changed": "2", "kept": "2", "new": "2", "newer": "2"})
}

func replaceChangesOnlyItsEntities(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	one, two := newEntity(east, "i-1"), newEntity(east, "i-2")
	record(t, f.Store, newScope(instance, east), one, two)
	before := generation(t, f.Store)
	scope := posture.Scope(newScope(instance, east))
	if err := f.Store.Replace(ctx, scope, posture.ChangeOrigin{}, []posture.Entity{one, one}, []posture.EntityID{"AWS.EC2.123456789012.us-east-1.Instance.none"}); err != nil {
		t.Fatal(err)
	}
	if g := generation(t, f.Store); g != before {
		t.Errorf("nothing changed, but generation %d became %d", before, g)
	}
	if err := f.Store.Replace(ctx, scope, posture.ChangeOrigin{}, []posture.Entity{newEntity(east, "i-3")}, []posture.EntityID{one.ID}); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "names", names(t, f.Store), []string{"name of i-2", "name of i-3"})
	record(t, f.Store, newScope(instance, east), two, newEntity(east, "i-3"))
	if g := generation(t, f.Store); g != before+1 {
		t.Errorf("the collection found differences to the replaced entities: generation %d, want %d", g, before+1)
	}
}

func discardedRecordingLeavesNothing(t *testing.T, f EntityFixture) {
	r, err := f.Store.Begin(t.Context(), newScope(instance, east))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Put(t.Context(), newEntity(east, "i-1")); err != nil {
		t.Fatal(err)
	}
	r.Discard()
	if err := r.Commit(t.Context(), true); err == nil {
		t.Error("a discarded recording was committed")
	}
	wantSame(t, "names", names(t, f.Store), []string(nil))
}

func removedAccountHasNoEntities(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	e := newEntity(east, "i-1")
	record(t, f.Store, newScope(instance, east), e, newEntity(east, "i-2"))
	if err := f.Store.SaveSnapshot(ctx, org, account, posture.Snapshot{Generation: 1, Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	f.Clock.T = f.Clock.T.Add(time.Hour)
	remove(t, f.Store, account)
	_, err := f.Store.Entity(ctx, org, e.ID)
	wantKind(t, "entity of a removed account", err, fault.NotFound)
	_, err = f.Store.Generation(ctx, org, account)
	wantKind(t, "generation of a removed account", err, fault.NotFound)
	log, err := f.Store.ChangeLog(ctx, org, e.ID)
	if err != nil || len(log) != 2 || log[0].Tags["env"].Type != posture.Deleted || !log[1].At.Equal(begin) {
		t.Errorf("log %v, %v; want the removal and the addition", log, err)
	}

	onboard(t, f.Store, org, account)
	if g := generation(t, f.Store); g != 2 {
		t.Errorf("generation is %d after removal, want 2", g)
	}
	if _, ok, err := f.Store.ChangesSince(ctx, org, account, 1); ok || err != nil {
		t.Errorf("ChangesSince a generation before the removal = %v, %v; want false", ok, err)
	}
	if snap, err := f.Store.Snapshot(ctx, org, account); snap.Generation != 0 || err != nil {
		t.Errorf("snapshot %v, %v; want none after the removal", snap, err)
	}
	wantSame(t, "names", names(t, f.Store), []string(nil))
	f.Clock.T = f.Clock.T.Add(time.Hour)
	record(t, f.Store, newScope(instance, east), e)
	got, err := f.Store.Entity(ctx, org, e.ID)
	if err != nil || !got.Created.Equal(f.Clock.T) {
		t.Errorf("created %v, %v; want the time after the removal, %v", got.Created, err, f.Clock.T)
	}
}

func recordingOfRemovedAccountFails(t *testing.T, f EntityFixture) {
	r, err := f.Store.Begin(t.Context(), newScope(instance, east))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Put(t.Context(), newEntity(east, "i-1")); err != nil {
		t.Fatal(err)
	}
	remove(t, f.Store, account)
	wantKind(t, "commit", r.Commit(t.Context(), true), fault.NotFound)
	onboard(t, f.Store, org, account)
	wantSame(t, "names", names(t, f.Store), []string(nil))
}

func entityOfAnotherScopeFails(t *testing.T, f EntityFixture) {
	for what, e := range map[string]posture.Entity{
		"type":    newEntity(east, "i-1", func(e *posture.Entity) { e.Type = bucket }),
		"account": newEntity(east, "i-1", func(e *posture.Entity) { e.Account = "210987654321" }),
		"id":      newEntity(east, "i-1", func(e *posture.Entity) { e.ID = instance.ID("210987654321", east, "i-1") }),
	} {
		err := tryRecord(t.Context(), f.Store, newScope(instance, east), true, e)
		wantKind(t, "entity of another "+what, err, fault.Invalid)
		err = f.Store.Replace(t.Context(), posture.Scope(newScope(instance, east)), posture.ChangeOrigin{}, []posture.Entity{e}, nil)
		wantKind(t, "entity of another "+what, err, fault.Invalid)
	}
}

func oldChangeLogsAreDeleted(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	one, two := newEntity(east, "i-1"), newEntity(east, "i-2")
	record(t, f.Store, newScope(instance, east), one, two)
	record(t, f.Store, newScope(instance, east), newEntity(east, "i-1", set(posture.Text("image", "2"))), newEntity(east, "i-2", set(posture.Text("image", "2"))))
	f.Clock.T = f.Clock.T.Add(time.Hour)
	record(t, f.Store, newScope(instance, east), newEntity(east, "i-2", set(posture.Text("image", "2"))))
	if err := f.Store.ForgetChanges(ctx, f.Clock.T); err != nil {
		t.Fatal(err)
	}
	if log, err := f.Store.ChangeLog(ctx, org, one.ID); err != nil || len(log) != 3 {
		t.Errorf("log %v, %v; want 3 changes, since the entity was not removed before the given time", log, err)
	}
	if err := f.Store.ForgetChanges(ctx, f.Clock.T.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	_, err := f.Store.ChangeLog(ctx, org, one.ID)
	wantKind(t, "deleted log", err, fault.NotFound)
	if log, err := f.Store.ChangeLog(ctx, org, two.ID); err != nil || len(log) != 2 {
		t.Errorf("log of an entity that exists: %v, %v; want both changes", log, err)
	}
}

func coverageFollowsCommits(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	record(t, f.Store, newScope(instance, east), newEntity(east, "i-1"))
	recordIncomplete(t, f.Store, newScope(instance, west))
	later := f.Clock.T.Add(time.Hour)
	f.Clock.T = later
	if err := f.Store.ScopeFailed(ctx, posture.Scope(newScope(instance, east)), "throttled\x00\xff"); err != nil {
		t.Fatal(err)
	}
	got, err := f.Store.Coverage(ctx, org, account)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "coverage", got, []posture.Coverage{
		// Not every database can store a zero byte or invalid UTF-8 in the reason.
		{Type: instance, Region: east, Regions: []string{east}, Succeeded: begin, Failed: later, Why: "throttled??", Generation: 1},
		{Type: instance, Region: west, Failed: begin, Why: "not all of it could be read"},
	})
	if got[0].Current() || got[1].Current() || !got[0].Covers(instance, east) || got[0].Covers(instance, west) || got[0].Covers(bucket, east) {
		t.Errorf("coverage %v: want the last attempts to have failed, and the first to cover instances in %s only", got, east)
	}
	f.Clock.T = later.Add(time.Hour)
	record(t, f.Store, newScope(instance, east), newEntity(east, "i-1"))
	got, err = f.Store.Coverage(ctx, org, account)
	if err != nil || !got[0].Current() || !got[0].Succeeded.Equal(f.Clock.T) {
		t.Errorf("coverage %v, %v; want a success at %v", got, err, f.Clock.T)
	}
	_, err = f.Store.Coverage(ctx, other, account)
	wantKind(t, "coverage for another organisation", err, fault.NotFound)
}

func changesSinceAGeneration(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	one, two, three := newEntity(east, "i-1"), newEntity(east, "i-2"), newEntity(east, "i-3")
	record(t, f.Store, newScope(instance, east), one, two)
	record(t, f.Store, newScope(instance, east), one, three)
	edited := newEntity(east, "i-1", set(posture.Text("image", "2")))
	record(t, f.Store, newScope(instance, east), edited, two)
	edited.Created, edited.Updated, two.Created, two.Updated = begin, begin, begin, begin

	for since, want := range map[int64]posture.PartitionChanges{
		0: {Generation: 3, Changed: []posture.Entity{edited, two}, Gone: []posture.EntityID{three.ID}},
		2: {Generation: 3, Changed: []posture.Entity{edited, two}, Gone: []posture.EntityID{three.ID}},
	} {
		got, ok, err := f.Store.ChangesSince(ctx, org, account, since)
		if err != nil || !ok {
			t.Fatalf("changes since %d: %v, %v", since, ok, err)
		}
		wantSame(t, fmt.Sprintf("changes since %d", since), got, want)
	}
	_, _, err := f.Store.ChangesSince(ctx, other, account, 0)
	wantKind(t, "changes for another organisation", err, fault.NotFound)
}

func snapshotsAreReplacedByNewer(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	for _, g := range []int64{5, 3, 9, 9} {
		if err := f.Store.SaveSnapshot(ctx, org, account, posture.Snapshot{Generation: g, Data: []byte{byte(g)}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := f.Store.Snapshot(ctx, org, account)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "snapshot", got, posture.Snapshot{Generation: 9, Data: []byte{9}})
}

func largeCollectionSpills(t *testing.T, f EntityFixture) {
	text := strings.Repeat("0123456789abcdef", 1<<10)
	var all []posture.Entity
	for i := range 700 { // about 11 MB, more than a recording keeps in memory
		all = append(all, newEntity(east, fmt.Sprintf("i-%03d", i), set(posture.Text("policy", fmt.Sprint(i, text)))))
	}
	record(t, f.Store, newScope(instance, east), all...)
	e, err := f.Store.Entity(t.Context(), org, all[699].ID)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "properties", e.Properties, all[699].Properties)
	if n := len(names(t, f.Store)); n != 700 {
		t.Errorf("%d entities, want 700", n)
	}
}

func concurrentCommits(t *testing.T, f EntityFixture) {
	var wg sync.WaitGroup
	for i := range 12 { // two for each of six regions, with the same entities
		wg.Go(func() {
			scope := collect.Scoped{Org: org, Account: account, Type: instance, Region: fmt.Sprintf("region-%d", i/2)}
			var es []posture.Entity
			for n := range 20 {
				es = append(es, newEntity(scope.Region, fmt.Sprintf("i-%d", n)))
			}
			if err := tryRecord(t.Context(), f.Store, scope, true, es...); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(names(t, f.Store)); n != 120 {
		t.Errorf("%d entities, want 120", n)
	}
	if g := generation(t, f.Store); g != 6 {
		t.Errorf("generation %d, want one for each region", g)
	}
}
