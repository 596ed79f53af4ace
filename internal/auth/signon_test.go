package auth_test

import (
	"testing"
	"time"

	"vigil/internal/auth"
)

// TestLastAdminKeepsOnlyTheRole checks that the last admin gets the new name at a login
// with a lower role, unless the name is taken.
func TestLastAdminKeepsOnlyTheRole(t *testing.T) {
	t.Parallel()
	p := onSQLite(t).process(t)
	org, first, err := p.CreateOrg(t.Context(), "acme", "admin")
	if err != nil {
		t.Fatal(err)
	}
	login := func(name string, role auth.Role) auth.TokenState {
		t.Helper()
		s, err := p.SignOn(t.Context(), auth.SignOn{Issuer: "https://idp.test", Subject: "ann-1", Name: name, Org: "acme", Role: role, Life: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	login("ann", auth.Admin)
	if _, err := p.RemoveUser(t.Context(), auth.Operator(org.ID), first.ID, first.Version); err != nil { // ann is the last admin now
		t.Fatal(err)
	}
	s := login("ann smith", auth.Viewer)
	if s.User.Name != "ann smith" || s.User.Role != auth.Admin || s.Token.Role != auth.Viewer {
		t.Errorf("user %q with the role %s, token with the role %s; want ann smith, an admin, with a viewer's token", s.User.Name, s.User.Role, s.Token.Role)
	}
	if _, err := p.AddUser(t.Context(), auth.Operator(org.ID), auth.UserEdit{Name: "ann jones", Role: auth.Viewer}); err != nil {
		t.Fatal(err)
	}
	if s = login("ann jones", auth.Viewer); s.User.Name != "ann smith" || s.User.Role != auth.Admin {
		t.Errorf("user %q with the role %s, want the name and role from before", s.User.Name, s.User.Role)
	}
}
