package storetest

import (
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func viewsAreOwnOrShared(t *testing.T, f Fixture) {
	ownView := posture.View{ID: "1", Owner: "ann", Name: "b mine", Screen: "findings", Query: "level=High", Updated: begin}
	shared := posture.View{ID: "2", Owner: "bob", Shared: true, Name: "a shared", Screen: "rules", Updated: begin}
	hidden := posture.View{ID: "3", Owner: "bob", Name: "c hidden", Screen: "rules", Updated: begin}
	for _, v := range []posture.View{ownView, shared, hidden} {
		if err := f.Store.SaveView(t.Context(), org, v); err != nil {
			t.Fatal(err)
		}
	}
	views := func(owner posture.OrgID, user string) []posture.View {
		t.Helper()
		all, err := f.Store.Views(t.Context(), owner, user)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	wantSame(t, "views", views(org, "ann"), []posture.View{shared, ownView})
	if all := views(other, "ann"); len(all) != 0 {
		t.Errorf("views of another organisation: %v, want none", all)
	}
	ownView.Name, ownView.Shared = "changed", true
	if err := f.Store.SaveView(t.Context(), org, ownView); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "views of the other user", views(org, "bob"), []posture.View{shared, hidden, ownView})
	stolen := shared
	stolen.Owner = "ann"
	wantKind(t, "save another's view", f.Store.SaveView(t.Context(), org, stolen), fault.NotFound)
	wantKind(t, "delete another's view", f.Store.DeleteView(t.Context(), org, "ann", "2"), fault.NotFound)
	wantKind(t, "delete a view of another organisation", f.Store.DeleteView(t.Context(), other, "ann", "1"), fault.NotFound)
	if err := f.Store.DeleteView(t.Context(), org, "ann", "1"); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "views", views(org, "ann"), []posture.View{shared})
}
