package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// origin returns the cause, the actor and the operation of a change. Collections have no actor
// and no operation.
func origin(c posture.EntityChange) string {
	return strings.TrimSpace(fmt.Sprint(c.Cause, " ", c.Actor, " ", c.Operation))
}

// feedLines returns the feed, one line for each change, read in pages of a size.
func feedLines(t *testing.T, s posture.EntityStore, f posture.FeedFilter, size int) (lines []string) {
	t.Helper()
	for p := (posture.Page{Size: size}); ; {
		page, err := s.Feed(t.Context(), org, f, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Changes {
			lines = append(lines, fmt.Sprintf("%s %s %s %s %s", c.Change.At.Sub(begin), c.ChangeType, c.Name, origin(c.Change), c.Region))
		}
		if p.After = page.Next; p.After == "" {
			return lines
		}
	}
}

func feedHasEveryChangeOnce(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	image := func(name, image string) posture.Entity {
		return newEntity(east, name, set(posture.Text("image", image)))
	}
	later := func() { f.Clock.T = f.Clock.T.Add(time.Hour) }
	scope := newScope(instance, east)
	record(t, f.Store, scope, image("a", "1"), image("b", "1")) // the feed leaves out the first collection of a scope
	wantSame(t, "feed after the first collection", feedLines(t, f.Store, posture.FeedFilter{}, 0), []string(nil))

	later()
	record(t, f.Store, scope, image("a", "2"), image("b", "1"), image("c", "1"))
	later()
	record(t, f.Store, scope, image("a", "2"), image("b", "1"), image("c", "1")) // nothing changed
	later()
	if err := f.Store.Replace(ctx, posture.Scope(scope), posture.ChangeOrigin{Actor: "alice", Operation: "CopyImage"}, []posture.Entity{image("c", "2"), image("d", "1")}, []posture.EntityID{image("b", "").ID}); err != nil {
		t.Fatal(err)
	}
	later()
	record(t, f.Store, scope, image("a", "2"), image("c", "2")) // d is removed again

	want := []string{
		"4h0m0s DELETE name of d Collection us-east-1",
		"3h0m0s ADD name of d Event alice CopyImage us-east-1",
		"3h0m0s UPDATE name of c Event alice CopyImage us-east-1",
		"3h0m0s DELETE name of b Event alice CopyImage us-east-1",
		"1h0m0s ADD name of c Collection us-east-1",
		"1h0m0s UPDATE name of a Collection us-east-1",
	}
	for _, size := range []int{0, 1, 2, 5, 6} {
		wantSame(t, fmt.Sprintf("feed in pages of %d", size), feedLines(t, f.Store, posture.FeedFilter{}, size), want)
	}
	page, err := f.Store.Feed(ctx, org, posture.FeedFilter{}, posture.Page{})
	if err != nil || len(page.Changes) != 6 {
		t.Fatalf("feed %v, %v; want 6 changes", page, err)
	}
	c := page.Changes[5]
	if p := c.Change.Properties["image"]; c.Entity != image("a", "").ID || c.EntityType != instance || c.Account != account || p.Type != posture.Updated || p.New[0].String != "2" {
		t.Errorf("oldest change %+v, want the update of the image of a to 2", c)
	}

	for name, want := range map[string]string{
		"a": "1h0m0s Collection, 0s", // what the first collection found has no cause
		"b": "3h0m0s Event alice CopyImage, 0s",
		"c": "3h0m0s Event alice CopyImage, 1h0m0s Collection",
		"d": "4h0m0s Collection, 3h0m0s Event alice CopyImage",
	} {
		log, err := f.Store.ChangeLog(ctx, org, image(name, "").ID)
		var lines []string
		for _, c := range log {
			lines = append(lines, strings.TrimSpace(fmt.Sprint(c.At.Sub(begin), " ", origin(c))))
		}
		if got := strings.Join(lines, ", "); err != nil || got != want {
			t.Errorf("causes in the change log of %s: %q, %v; want %q", name, got, err, want)
		}
	}

	counts, err := f.Store.FeedCounts(ctx, org, posture.FeedFilter{}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	at := func(hours int) time.Time { return begin.Add(time.Duration(hours) * time.Hour).Truncate(time.Hour) }
	wantSame(t, "counts", counts, []posture.FeedCount{
		{From: at(1), Added: 1, Updated: 1}, {From: at(3), Added: 1, Updated: 1, Deleted: 1}, {From: at(4), Deleted: 1},
	})
}

func feedIsFiltered(t *testing.T, f EntityFixture) {
	ctx := t.Context()
	record(t, f.Store, newScope(instance, east), newEntity(east, "i-1"))
	f.Clock.T = f.Clock.T.Add(time.Hour)
	record(t, f.Store, newScope(instance, east)) // the feed has one change: i-1 is deleted
	for name, c := range map[string]struct {
		filter posture.FeedFilter
		want   int
	}{
		"this account":    {posture.FeedFilter{Accounts: []string{string(account)}}, 1},
		"another account": {posture.FeedFilter{Accounts: []string{"999999999999"}}, 0},
		"this type":       {posture.FeedFilter{Types: []string{"aws.ec2.instance"}}, 1},
		"another type":    {posture.FeedFilter{Types: []string{string(bucket), "a\x00b"}}, 0}, // PostgreSQL cannot store a zero byte
		"from":            {posture.FeedFilter{When: posture.Span{From: f.Clock.T}}, 1},
		"from later":      {posture.FeedFilter{When: posture.Span{From: f.Clock.T.Add(time.Second)}}, 0},
		"until":           {posture.FeedFilter{When: posture.Span{To: f.Clock.T}}, 0},
		"until later":     {posture.FeedFilter{When: posture.Span{To: f.Clock.T.Add(time.Second)}}, 1},
	} {
		if lines := feedLines(t, f.Store, c.filter, 0); len(lines) != c.want {
			t.Errorf("%s: feed %v, want %d changes", name, lines, c.want)
		}
		counts, err := f.Store.FeedCounts(ctx, org, c.filter, 24*time.Hour)
		if err != nil || len(counts) != c.want {
			t.Errorf("%s: counts %v, %v; want %d", name, counts, err, c.want)
		}
	}
	page, err := f.Store.Feed(ctx, other, posture.FeedFilter{}, posture.Page{})
	if err != nil || len(page.Changes) != 0 {
		t.Errorf("feed of another organisation %v, %v; want none", page, err)
	}
	_, err = f.Store.Feed(ctx, org, posture.FeedFilter{}, posture.Page{After: "x"})
	wantKind(t, "malformed cursor", err, fault.Invalid)

	if err := f.Store.ForgetChanges(ctx, f.Clock.T.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if lines := feedLines(t, f.Store, posture.FeedFilter{}, 0); len(lines) != 0 {
		t.Errorf("feed %v after the changes were deleted", lines)
	}
}

func feedOfALargeCommitIsCut(t *testing.T, f EntityFixture) {
	record(t, f.Store, newScope(instance, east)) // the feed leaves out the first collection
	f.Clock.T = f.Clock.T.Add(time.Hour)
	var many []posture.Entity
	for i := range 1200 {
		many = append(many, newEntity(east, fmt.Sprint("i-", i)))
	}
	record(t, f.Store, newScope(instance, east), many...)
	if lines := feedLines(t, f.Store, posture.FeedFilter{}, 300); len(lines) != 1000 {
		t.Errorf("%d changes of one commit in the feed, want the first 1000", len(lines))
	}
	counts, err := f.Store.FeedCounts(t.Context(), org, posture.FeedFilter{}, time.Hour)
	if err != nil || len(counts) != 1 || counts[0].Added != 1200 {
		t.Errorf("counts %v, %v; want all 1200 additions", counts, err)
	}
}
