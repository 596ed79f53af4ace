package world_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vigil/internal/sim/world"
)

func TestNumbersAreEncodedInDigits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := world.Seed(rapid.Uint64().Draw(t, "seed"))
		i := rapid.IntRange(0, 1<<31).Draw(t, "i")
		n := rapid.IntRange(9, 40).Draw(t, "n")
		digits := seed.Numbered(i, n)
		if got, ok := seed.Number(digits); !ok || got != i || len(digits) != n {
			t.Fatalf("Number(%s) = %d, %v; want %d", digits, got, ok, i)
		}
		if _, ok := seed.With("other").Number(digits); ok && n >= 16 { // too few digits cannot distinguish seeds
			t.Fatalf("another seed accepts %s", digits)
		}
		uuid := seed.UUID(i)
		if got, ok := seed.UUIDNumber(uuid); !ok || got != i || len(uuid) != 36 {
			t.Fatalf("UUIDNumber(%s) = %d, %v; want %d", uuid, got, ok, i)
		}
	})
}

func TestSharesAreKept(t *testing.T) {
	t.Parallel()
	seed, hits := world.Seed(7).With("rule"), 0
	for i := range 10_000 {
		if seed.Nth(i).Share(0.2) {
			hits++
		}
	}
	if hits < 1_850 || hits > 2_150 {
		t.Errorf("%d of 10000 are in a share of 0.2, want about 2000", hits)
	}
}

func TestMergePatch(t *testing.T) {
	t.Parallel()
	before := world.Obj(
		"a", "x", "b", world.Obj("c", 1, "d", true), "list", world.List{Item: "Thing", Of: world.Items("p", "q")}, "z", time.Unix(0, 0).UTC(),
	)
	var patch world.Object
	if err := json.Unmarshal([]byte(`{"a":null,"b":{"c":2},"list":["r"],"new":{"n":1.5}}`), &patch); err != nil {
		t.Fatal(err)
	}
	after := before.Merge(patch)
	got, err := json.Marshal(after)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"b":{"c":2,"d":true},"list":["r"],"z":"1970-01-01T00:00:00Z","new":{"n":1.5}}`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if list, ok := after.Get("list").(world.List); !ok || list.Item != "Thing" {
		t.Error("the list lost the name of its elements")
	}
	if before.Text("a") != "x" || before.Number("b", "c") != 1 {
		t.Error("the object that was patched has changed")
	}
}

// things is a kind with seven resources.
var things = &world.Kind{
	Type:  "AWS.Test.Thing",
	Count: func(world.Place) int { return 7 },
	Name:  func(_ world.Place, i int) string { return fmt.Sprint("thing-", i) },
	Index: func(_ world.Place, name string) (i int, ok bool) {
		_, err := fmt.Sscanf(name, "thing-%d", &i)
		return i, err == nil
	},
	Make: func(p world.Place, i int) world.Object { return world.Obj("n", i, "where", p.Region) },
}

func TestChangesAreAppliedToGeneratedResources(t *testing.T) {
	t.Parallel()
	var w world.World
	place := world.Place{Account: "1", Region: "r"}
	ref := func(name string) world.Ref { return world.Ref{Type: things.Type, Place: place, Name: name} }
	w.Changes.Apply(world.Change{Ref: ref("thing-2"), Gone: true})
	w.Changes.Apply(world.Change{Ref: ref("thing-4"), Patch: world.Obj("n", 44)})
	w.Changes.Apply(world.Change{Ref: ref("new"), Make: world.Obj("n", 100)})
	w.Changes.Apply(world.Change{Ref: ref("new"), Patch: world.Obj("n", 101)})
	w.Changes.Apply(world.Change{Ref: ref("newer"), Make: world.Obj("n", 200)})
	w.Changes.Apply(world.Change{Ref: ref("newer"), Gone: true})

	w.Changes.Apply(world.Change{Ref: ref("thing-5"), Gone: true})
	w.Changes.Apply(world.Change{Ref: ref("thing-5"), Make: world.Obj("n", 55)})

	var got []int64
	for from := 0; from >= 0; {
		from = w.List(things, place, from, 3, func(_ string, o world.Object) bool {
			got = append(got, o.Number("n"))
			return true
		})
	}
	if diff := cmp.Diff([]int64{0, 1, 3, 44, 6, 101, 55}, got); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]int64{"thing-0": 0, "thing-4": 44, "thing-5": 55, "new": 101} {
		if o, ok := w.Get(things, place, name); !ok || o.Number("n") != want {
			t.Errorf("%s: %v, exists: %v; want it with the number %d", name, o, ok, want)
		}
	}
	for _, name := range []string{"thing-2", "thing-7", "thing-x", "newer"} {
		if _, ok := w.Get(things, place, name); ok {
			t.Errorf("%s exists", name)
		}
	}
	if o, _ := w.Get(things, world.Place{Account: "2", Region: "r"}, "thing-4"); o.Number("n") != 4 {
		t.Error("a change shows in another account")
	}
	w.Changes.Reset()
	if o, ok := w.Get(things, place, "thing-2"); !ok || o.Number("n") != 2 {
		t.Error("a removed resource is still missing after Reset")
	}
}
