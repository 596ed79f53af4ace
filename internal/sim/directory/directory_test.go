package directory_test

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"

	"vigil/internal/sim/directory"
	"vigil/internal/sim/pki"
)

func corp() directory.Domain {
	return directory.Domain{
		DNSName: "corp.example", NetBIOS: "CORP", SID: "S-1-5-21-1-2-3",
		LockoutThreshold: 3,
		Groups:           []directory.Group{{Name: "Root Admins"}, {Name: "Ops", Groups: []string{"Root Admins"}}},
		Users: []directory.User{
			{Name: "alice", Password: "right", Groups: []string{"Ops"}, JoinsTo: []string{"Clones"}},
			{Name: "bob", Password: "right"},
			{Name: "off", Password: "right", Disabled: true},
			{Name: "old", Password: "right", Expired: true},
			{Name: "new", Password: "right", MustChange: true},
		},
		OUs:    []string{"Clones"},
		Trusts: []directory.Trust{{Partner: "lab.example", NetBIOS: "LAB", SID: "S-1-5-21-4-5-6", Direction: 3, Type: 2}},
	}
}

type fixture struct {
	*directory.Server
	ca *pki.Authority
}

func start(t *testing.T, d directory.Domain) fixture {
	t.Helper()
	validity := pki.Around(time.Now(), time.Hour)
	ca, err := pki.New("Test CA", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := directory.New(directory.Options{Domain: d, Certificate: leaf})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return fixture{s, ca}
}

func (f fixture) dial(t *testing.T) *ldap.Conn {
	t.Helper()
	c, err := ldap.DialURL(f.SecureURL(), ldap.DialWithTLSConfig(&tls.Config{RootCAs: f.ca.Pool(), ServerName: "127.0.0.1"}))
	if err != nil {
		t.Fatal(err)
	}
	c.SetTimeout(time.Minute)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestBindDiagnostics(t *testing.T) {
	t.Parallel()
	f := start(t, corp())
	for _, tt := range []struct{ name, user, password, data string }{
		{"right", `CORP\alice`, "right", ""},
		{"by principal name", "alice@corp.example", "right", ""},
		{"by distinguished name", "CN=alice,CN=Users,DC=corp,DC=example", "right", ""},
		{"wrong password", `CORP\bob`, "wrong", "data 52e"},
		{"unknown user", `CORP\nobody`, "right", "data 52e"},
		{"another domain", `LAB\alice`, "right", "data 52e"},
		{"bare name", "alice", "right", "data 52e"},
		{"disabled", `CORP\off`, "right", "data 533"},
		{"expired", `CORP\old`, "right", "data 701"},
		{"must change", `CORP\new`, "right", "data 773"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := f.dial(t).Bind(tt.user, tt.password)
			if tt.data == "" && err != nil || tt.data != "" && (err == nil || !strings.Contains(err.Error(), tt.data)) {
				t.Errorf("bind: %v, want %q", err, tt.data)
			}
		})
	}
}

func TestLockoutCountIsResetByTheRightPassword(t *testing.T) {
	t.Parallel()
	f := start(t, corp())
	c := f.dial(t)
	for _, password := range []string{"a", "b", "right", "a", "b"} {
		_ = c.Bind(`CORP\bob`, password)
	}
	if got := f.BadPasswords("bob"); got != 2 || f.Locked("bob") {
		t.Errorf("%d bad passwords, locked %v; want 2, false", got, f.Locked("bob"))
	}
	_ = c.Bind(`CORP\bob`, "c")
	if err := c.Bind(`CORP\bob`, "right"); !f.Locked("bob") || !strings.Contains(fmt.Sprint(err), "data 775") {
		t.Errorf("the third bad password did not lock: %v", err)
	}
}

func TestBindNeedsTLSOrStartTLS(t *testing.T) {
	t.Parallel()
	f := start(t, corp())
	c, err := ldap.DialURL(f.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Bind(`CORP\alice`, "right"); !ldap.IsErrorWithCode(err, ldap.LDAPResultStrongAuthRequired) {
		t.Errorf("a bind in the clear: %v", err)
	}
	if err := c.StartTLS(&tls.Config{RootCAs: f.ca.Pool(), ServerName: "127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Bind(`CORP\alice`, "right"); err != nil {
		t.Errorf("a bind after StartTLS: %v", err)
	}
}

func TestSearches(t *testing.T) {
	t.Parallel()
	f := start(t, corp())
	anonymous := f.dial(t)
	if got := search(t, anonymous, "", ldap.ScopeBaseObject, "(objectClass=*)", "defaultNamingContext"); got[0] != "DC=corp,DC=example" {
		t.Errorf("rootDSE: %q", got)
	}
	if _, err := anonymous.Search(request("DC=corp,DC=example", ldap.ScopeBaseObject, "(objectClass=*)")); err == nil {
		t.Error("an unauthenticated client can read the domain")
	}
	c := f.dial(t)
	if err := c.Bind(`CORP\alice`, "right"); err != nil {
		t.Fatal(err)
	}
	const root, system = "DC=corp,DC=example", "CN=System,DC=corp,DC=example"
	const alice = "CN=alice,CN=Users," + root
	for _, tt := range []struct {
		name, base    string
		scope         int
		filter, asked string
		want          []string
	}{
		{"person by account name", root, ldap.ScopeWholeSubtree, "(&(objectCategory=person)(sAMAccountName=ALICE))", "cn", []string{"alice"}},
		{"trusts", system, ldap.ScopeSingleLevel, "(objectClass=trustedDomain)", "flatName", []string{"LAB"}},
		{"nested membership", root, ldap.ScopeWholeSubtree,
			"(&(objectClass=user)(memberOf:1.2.840.113556.1.4.1941:=CN=Root Admins,CN=Users,DC=corp,DC=example))", "cn", []string{"alice"}},
		{"disabled by bit", root, ldap.ScopeWholeSubtree, "(userAccountControl:1.2.840.113556.1.4.803:=2)", "cn", []string{"off"}},
		{"substrings", root, ldap.ScopeWholeSubtree, "(&(objectClass=user)(|(cn=al*c*)(cn=*ob)))", "cn", []string{"alice", "bob"}},
		{"negated comparison", root, ldap.ScopeWholeSubtree, "(&(objectClass=user)(!(cn<=n)))", "cn", []string{"off", "old", "new"}},
		{"negation of a rule that is not supported", root, ldap.ScopeWholeSubtree, "(&(objectClass=user)(!(userAccountControl:1.2.840.113556.1.4.804:=2)))", "cn", nil},
		{"negation of a comparison and such a rule", root, ldap.ScopeWholeSubtree,
			"(&(objectClass=user)(!(&(cn=al*)(userAccountControl:1.2.840.113556.1.4.804:=2))))", "cn", []string{"bob", "off", "old", "new"}},
		{"a comparison or such a rule", root, ldap.ScopeWholeSubtree, "(|(cn=bob)(userAccountControl:1.2.840.113556.1.4.804:=2))", "cn", []string{"bob"}},
		{"lockout policy", root, ldap.ScopeBaseObject, "(objectClass=*)", "lockoutThreshold", []string{"3"}},
		{"net bios name", "CN=Partitions,CN=Configuration," + root, ldap.ScopeSingleLevel, "(&(objectClass=crossRef)(nCName=" + root + "))",
			"nETBIOSName", []string{"CORP"}},
		{"may join computers", "OU=Clones," + root, ldap.ScopeBaseObject, "(objectClass=*)", "allowedChildClassesEffective", []string{"computer"}},
		// The function search checks this: it reports tokenGroups in the answer to "*".
		{"operational attributes must be requested", alice, ldap.ScopeBaseObject, "(objectClass=*)", "*", nil},
	} {
		got := search(t, c, tt.base, tt.scope, tt.filter, tt.asked)
		if tt.asked != "*" && !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	tokens, err := c.Search(request(alice, ldap.ScopeBaseObject, "(objectClass=*)", "tokenGroups"))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(tokens.Entries[0].GetRawAttributeValues("tokenGroups")); got != 4 {
		t.Errorf("alice has %d token groups, want 4: Domain Users, BUILTIN\\Users, Ops and, because Ops is a member of it, Root Admins", got)
	}
}

func TestSubtreeSearchesCarryReferrals(t *testing.T) {
	t.Parallel()
	f := start(t, corp())
	c := f.dial(t)
	if err := c.Bind(`CORP\alice`, "right"); err != nil {
		t.Fatal(err)
	}
	r, err := c.Search(request("DC=corp,DC=example", ldap.ScopeWholeSubtree, "(cn=bob)"))
	if err != nil || len(r.Referrals) != 1 {
		t.Errorf("%d referrals, want 1: %v", len(r.Referrals), err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	f := start(t, corp())
	f.Break(directory.PingOnly)
	if err := f.dial(t).Bind(`CORP\alice`, "right"); !ldap.IsErrorWithCode(err, ldap.LDAPResultStrongAuthRequired) {
		t.Errorf("ping only: %v", err)
	}
	f.Break(directory.Down)
	if c, err := ldap.DialURL(f.SecureURL(), ldap.DialWithTLSConfig(&tls.Config{RootCAs: f.ca.Pool(), ServerName: "127.0.0.1"})); err == nil {
		_ = c.Close()
		t.Error("a controller that is down can be dialled")
	}
	f.Break(directory.Healthy)
	if err := f.dial(t).Bind(`CORP\alice`, "right"); err != nil {
		t.Errorf("after the fault was removed: %v", err)
	}
}

func TestChangeKeepsCounts(t *testing.T) {
	t.Parallel()
	f := start(t, corp())
	_ = f.dial(t).Bind(`CORP\bob`, "wrong")
	f.Change(func(d *directory.Domain) { d.Users[1].Password = "changed" })
	if f.BadPasswords("bob") != 1 {
		t.Error("the count of bad passwords was lost")
	}
	if err := f.dial(t).Bind(`CORP\bob`, "changed"); err != nil {
		t.Errorf("the changed password: %v", err)
	}
}

func request(base string, scope int, filter string, attributes ...string) *ldap.SearchRequest {
	return ldap.NewSearchRequest(base, scope, ldap.NeverDerefAliases, 0, 5, false, filter, attributes, nil)
}

func search(t *testing.T, c *ldap.Conn, base string, scope int, filter, attribute string) []string {
	t.Helper()
	r, err := c.Search(request(base, scope, filter, attribute))
	if err != nil {
		t.Fatalf("search %s %s: %v", base, filter, err)
	}
	var values []string
	for _, e := range r.Entries {
		if attribute == "*" && e.GetAttributeValue("tokenGroups") != "" {
			t.Errorf("%s: tokenGroups was sent without being requested", e.DN)
		}
		values = append(values, e.GetAttributeValue(attribute))
	}
	return values
}

// TestStopAfterAFailedStart stops a controller whose address does not exist on this machine.
func TestStopAfterAFailedStart(t *testing.T) {
	t.Parallel()
	s := directory.New(directory.Options{Domain: corp(), Host: "192.0.2.1"})
	if err := s.Start(t.Context()); err == nil {
		t.Error("the controller started")
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}
