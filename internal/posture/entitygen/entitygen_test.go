package entitygen_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/entitygen"
)

func TestAccountsAreReproducible(t *testing.T) {
	t.Parallel()
	for i := range 5 {
		a := entitygen.New(i, 2000)
		first := map[posture.EntityID]posture.Entity{}
		for e := range a.All() {
			if _, exists := first[e.ID]; exists {
				t.Fatalf("%s is generated twice", e.ID)
			}
			if e.Account != a.ID || e.Provider != a.Provider || e.Type.Provider() != a.Provider || e.Region == "" || !strings.Contains(string(e.ID), "."+string(a.ID)+".") {
				t.Fatalf("bad entity %+v", e)
			}
			first[e.ID] = e
		}
		edges, dangling := 0, 0
		for e := range a.All() {
			if diff := cmp.Diff(first[e.ID], e); diff != "" {
				t.Fatalf("%s differs when generated again (-first +second):\n%s", e.ID, diff)
			}
			for _, edge := range e.Edges {
				edges++
				if _, ok := first[edge.To]; !ok {
					dangling++
				}
			}
		}
		if n := len(first); n < 1800 || n > 2200 {
			t.Errorf("%s has %d entities, want about 2000", a.ID, n)
		}
		if average := float64(edges) / float64(len(first)); average < 2.7 || average > 3.3 || dangling > 0 {
			t.Errorf("%s: %d edges of %d entities, %d lead nowhere; want about 3 each", a.ID, edges, len(first), dangling)
		}
	}
}

func TestLaterRevisionsDiffer(t *testing.T) {
	t.Parallel()
	a := entitygen.New(1, 4000)
	b := a
	b.Revision, b.Changed = 1, 0.05
	before := map[posture.EntityID]posture.Entity{}
	for e := range a.All() {
		before[e.ID] = e
	}
	changed := 0
	for e := range b.All() {
		if !cmp.Equal(before[e.ID], e) {
			changed++
		}
	}
	if changed < 150 || changed > 250 {
		t.Errorf("%d of %d changed, want about 200", changed, len(before))
	}
}
