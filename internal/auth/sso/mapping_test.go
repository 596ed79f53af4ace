package sso

import (
	"strings"
	"testing"

	"vigil/internal/auth"
)

func TestFirstMappedGroupCounts(t *testing.T) {
	t.Parallel()
	m, err := parseMapping([]byte(`
- {group: cloud admins, organization: acme, role: admin}
- {group: "CN=Auditors,OU=Groups", organization: acme, role: Viewer}
- {group: staff, organization: other, role: analyst}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		groups []string
		org    string
		role   auth.Role
	}{
		{[]string{"staff", "cloud admins"}, "acme", auth.Admin},
		{[]string{"CN=Auditors,OU=Groups"}, "acme", auth.Viewer},
		{[]string{"x", "staff"}, "other", auth.Analyst},
		{[]string{"Staff"}, "", auth.NoRole},
		{nil, "", auth.NoRole},
	} {
		e, err := m.Find(c.groups)
		if e.Organization != c.org || e.Role.Role != c.role || (err != nil) != (c.org == "") || err != nil && ReasonOf(err) != NoGroup {
			t.Errorf("groups %v: %+v, %v; want organization %q, role %s", c.groups, e, err, c.org, c.role)
		}
	}
}

func TestMappingIsChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "maps no group",
		"[]":                                  "maps no group",
		"- {organization: acme, role: admin}": "group is missing",
		"- {group: a, role: admin}":           "organization is missing",
		"- {group: a, organization: acme}":    "role is missing",
		"- {group: a, organization: acme, role: root}":                 "must be one of",
		"- {group: a, organization: acme, role: admin, acounts: [1]}":  "acounts", // misspelt, so unknown
		"- {group: a, organization: acme, role: admin, accounts: [x]}": "cannot be limited",
		"- {group: a, organization: acme, role: viewer, accounts: []}": "must have account ids or tags",
		"group: a": "cannot unmarshal",
		"- {group: a, organization: acme, role: admin}\n" + strings.Repeat("#", maxMapping): "larger",
	} {
		if _, err := parseMapping([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v; want %s", text, err, want)
		}
	}
}

func TestGroupsOfClaims(t *testing.T) {
	t.Parallel()
	claims := map[string]any{
		"groups": []any{"a", "b", 3}, "hd": "example.com", "email": "ann@example.com", "email_verified": true,
		"realm_access": map[string]any{"roles": []any{"r"}}, "https://example.com/groups": []any{"u"}, "count": 3,
	}
	for name, want := range map[string]string{
		"groups": "a b", "hd": "example.com", "realm_access.roles": "r", "https://example.com/groups": "u", "email": "ann@example.com",
		"missing": "", "count": "", "hd.x": "",
	} {
		got, err := groupsOf(claims, name)
		if strings.Join(got, " ") != want || (err != nil) != (want == "") {
			t.Errorf("groups of the claim %s: %v, %v; want %q", name, got, err, want)
		}
	}
	for _, verified := range []any{false, "false", nil, 1} {
		if got, err := groupsOf(map[string]any{"email": "ann@example.com", "email_verified": verified}, "email"); err == nil {
			t.Errorf("an address with email_verified %v is used as a group: %v", verified, got)
		}
	}
}
