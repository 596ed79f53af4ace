package entitydb

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/entitygen"
)

func TestDocumentsRoundTrip(t *testing.T) {
	t.Parallel()
	for i := range 5 {
		a := entitygen.New(i, 300)
		for e := range a.All() {
			cell := contextOf(&e)
			got, err := readDoc(appendDoc(nil, cell.idPrefix(), &e), cell)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", e.ID, diff)
			}
		}
	}
}

func TestChangesRoundTrip(t *testing.T) {
	t.Parallel()
	a := entitygen.New(1, 300)
	b := a
	b.Revision, b.Changed = 1, 1 // all entities change
	before := map[posture.EntityID]posture.Entity{}
	for e := range a.All() {
		before[e.ID] = e
	}
	for e := range b.All() {
		want := posture.Compare(before[e.ID], e)
		id, got, err := readChange(appendChange(nil, e.ID, want))
		if err != nil || id != e.ID {
			t.Fatalf("the change of %s is read as that of %v, %v", e.ID, id, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", e.ID, diff)
		}
		undone := want.Undo(e)
		// Compare groups properties by name, so the order of the names does not matter here.
		if diff := cmp.Diff(posture.Compare(posture.Entity{}, before[e.ID]).Properties, posture.Compare(posture.Entity{}, undone).Properties); diff != "" {
			t.Fatalf("%s undone (-want +got):\n%s", e.ID, diff)
		}
	}
}

// FuzzReadDoc decodes arbitrary input: a damaged file must not crash the server.
func FuzzReadDoc(f *testing.F) {
	for e := range entitygen.New(0, 40).All() {
		cell := contextOf(&e)
		f.Add(appendDoc(nil, cell.idPrefix(), &e))
		c := posture.Compare(posture.Entity{}, e)
		c.At = time.Now()
		f.Add(appendChange(nil, e.ID, c))
	}
	cell := cellContext{"1", posture.AWS, "AWS.S3.Bucket", "eu"}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if e, err := readDoc(doc, cell); err == nil {
			second, err := readDoc(appendDoc(nil, cell.idPrefix(), &e), cell)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, second); diff != "" {
				t.Fatal(diff)
			}
		}
		_, _, _ = readChange(doc)
	})
}
