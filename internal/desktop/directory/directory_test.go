package directory_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
	sim "vigil/internal/sim/directory"
	"vigil/internal/sim/pki"
)

const sid = "S-1-5-21-1-2-3"

func corp() sim.Domain {
	return sim.Domain{
		DNSName: "corp.example", NetBIOS: "CORP", SID: sid, LockoutThreshold: 5, LockoutWindow: 30 * time.Minute,
		Groups: []sim.Group{{Name: "Root Admins"}, {Name: "Ops", Groups: []string{"Root Admins"}}},
		Users: []sim.User{
			{Name: "svc", Password: "service"},
			{Name: "Alice", Password: "right", Groups: []string{"Ops"}, JoinsTo: []string{"Clones"}},
			{Name: "bob", Password: "right"},
			{Name: "off", Password: "right", Groups: []string{"Ops"}, Disabled: true},
			{Name: "old", Password: "right", Groups: []string{"Ops"}, Expired: true},
			{Name: "new", Password: "right", Groups: []string{"Ops"}, MustChange: true},
		},
		OUs: []string{"Clones"},
		Trusts: []sim.Trust{
			{Partner: "lab.example", NetBIOS: "LAB", SID: "S-1-5-21-4-5-6", Direction: 3, Type: 2, Attributes: 0x20},
			{Partner: "OLD", NetBIOS: "OLD", SID: "S-1-5-21-7-8-9", Direction: 1, Type: 1},
		},
		Templates: []sim.Template{{Name: "TrueSso", Usages: []string{sim.SmartCardLogon}, KeySize: 2048}},
		Issuers:   []sim.Issuer{{Name: "corp-ca", Host: "ca.corp.example", Templates: []string{"TrueSso"}}},
	}
}

// fixture is a simulated domain with its controllers.
type fixture struct {
	client      *directory.Client
	spec        desktop.Domain
	controllers []*sim.Server
	password    atomic.Value // of the service account
	clock       atomic.Int64 // offset from the time of day
}

func (f *fixture) Secret(context.Context, desktop.SecretRef) (string, error) {
	return f.password.Load().(string), nil
}

func (f *fixture) now() time.Time { return time.Now().Add(time.Duration(f.clock.Load())) }

// start starts a domain with the given number of controllers. The function edit
// changes the inventory; nil leaves it as it is.
func start(t *testing.T, controllers int, edit func(*desktop.Inventory)) *fixture {
	t.Helper()
	validity := pki.Around(time.Now(), 1000*time.Hour)
	ca, err := pki.New("Test CA", validity)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := ca.Leaf(validity, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := &fixture{}
	s.password.Store("service")
	s.spec = desktop.Domain{
		ID: "d1", DNSName: "corp.example", NetBIOSName: "CORP", Primary: true, StartTLS: true,
		Trust: desktop.Trust{CAPEM: string(ca.PEM())}, BindUser: "svc", BindPassword: "env:X",
	}
	for range controllers {
		c := sim.New(sim.Options{Domain: corp(), Certificate: leaf, Now: s.now})
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Stop() })
		s.controllers = append(s.controllers, c)
		s.spec.Controllers = append(s.spec.Controllers, net.JoinHostPort(c.Host(), strconv.Itoa(c.Port())))
	}
	inv := desktop.Inventory{
		Domains:        []desktop.Domain{s.spec},
		Administrators: []desktop.AdministratorGroup{{DomainID: "d1", Name: "root admins"}},
	}
	if edit != nil {
		edit(&inv)
	}
	s.client = directory.New(directory.Options{Secrets: s, Now: s.now})
	s.client.Configure(inv)
	return s
}

// nameGroupBySID gives the administrator group by its SID: a login then need not bind as the service account
// to look up the group.
func nameGroupBySID(inv *desktop.Inventory) {
	inv.Administrators[0].SID = corp().GroupSID("Root Admins")
}

func reasonOf(err error) directory.Reason {
	if r, ok := errors.AsType[*directory.Refusal](err); ok {
		return r.Reason
	}
	return ""
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nil)
	for _, tt := range []struct {
		name, user, password string
		reason               directory.Reason
		counted              bool
	}{
		{"a nested administrator", "alice", "right", "", false},
		{"no administrator", "bob", "right", directory.NotAdministrator, false},
		{"a wrong password", "bob", "wrong", directory.WrongCredentials, true},
		{"an unknown user", "nobody", "right", directory.WrongCredentials, true},
		{"a disabled account", "off", "right", directory.Disabled, false},
		{"an expired account", "old", "right", directory.AccountExpired, false},
		{"a password to be changed", "new", "right", directory.MustChangePassword, false},
		{"an empty password", "alice", "", directory.EmptyPassword, false},
		{"a principal name", "alice@corp.example", "right", directory.BadName, false},
		{"a name with a domain", `CORP\alice`, "right", directory.BadName, false},
		{"an LDAP filter as the user name", "*)(sAMAccountName=alice", "right", directory.WrongCredentials, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			user, err := s.client.Login(t.Context(), "d1", tt.user, tt.password)
			if reasonOf(err) != tt.reason || tt.reason == "" && err != nil {
				t.Fatalf("Login = %v, want %q", err, tt.reason)
			}
			if refusal, ok := errors.AsType[*directory.Refusal](err); ok && refusal.Counted != tt.counted {
				t.Errorf("counted = %v, want %v", refusal.Counted, tt.counted)
			}
			want := directory.User{Name: "Alice", SID: user.SID, DN: "CN=Alice,CN=Users,DC=corp,DC=example", Domain: "CORP"}
			if tt.reason == "" && (user != want || user.SID == "") {
				t.Errorf("Login = %+v, want %+v", user, want)
			}
		})
	}
}

// TestLoginReadsTheGroupsOfTheBoundUser checks that a login as alice, an administrator, does not succeed with
// the password of mallory, whose principal name is alice@corp.example. Without a NetBIOS name in the inventory,
// the login binds with that principal name, and the controller binds mallory.
func TestLoginReadsTheGroupsOfTheBoundUser(t *testing.T) {
	t.Parallel()
	s := start(t, 1, func(inv *desktop.Inventory) {
		inv.Domains[0].NetBIOSName = ""
		nameGroupBySID(inv)
	})
	s.controllers[0].Change(func(d *sim.Domain) {
		d.Users = append(d.Users, sim.User{Name: "mallory", Password: "own", PrincipalName: "alice@corp.example"})
		d.Users[1].PrincipalName = "alice.smith@corp.example" // the account alice
	})
	if user, err := s.client.Login(t.Context(), "d1", "alice", "own"); reasonOf(err) != directory.NotAdministrator {
		t.Errorf("Login of mallory = %+v, %v, want %q", user, err, directory.NotAdministrator)
	}
	s.controllers[0].Change(func(d *sim.Domain) {
		d.Users[len(d.Users)-1].ForeignSID = "S-1-5-21-4-5-6-1000" // mallory is in another domain of the forest
	})
	if user, err := s.client.Login(t.Context(), "d1", "alice", "own"); reasonOf(err) != directory.UnknownUser {
		t.Errorf("Login of mallory from another domain = %+v, %v, want %q", user, err, directory.UnknownUser)
	}
	s.controllers[0].Change(func(d *sim.Domain) { d.Users = d.Users[:len(d.Users)-1] })
	if user, err := s.client.Login(t.Context(), "d1", "alice", "right"); err != nil || user.Name != "Alice" {
		t.Errorf("Login = %+v, %v, want Alice", user, err)
	}
}

func TestEmptyPasswordNeverReachesTheDirectory(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nameGroupBySID)
	if _, err := s.client.Login(t.Context(), "d1", "alice", ""); reasonOf(err) != directory.EmptyPassword {
		t.Errorf("Login = %v, want %q", err, directory.EmptyPassword)
	}
	if n := s.controllers[0].Binds(); n != 0 {
		t.Errorf("the directory saw %d binds", n)
	}
}

func TestLockedAccountIsReported(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nil)
	for range 5 {
		_, _ = s.client.Login(t.Context(), "d1", "bob", "wrong")
	}
	if _, err := s.client.Login(t.Context(), "d1", "bob", "right"); reasonOf(err) != directory.Locked {
		t.Errorf("Login = %v, want %q", err, directory.Locked)
	}
}

func TestLoginFailsOverToTheNextController(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.Fault{"down": sim.Down, "busy": sim.Unwilling} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, 2, nil)
			s.controllers[0].Break(fault)
			if _, err := s.client.Login(t.Context(), "d1", "alice", "right"); err != nil {
				t.Errorf("Login = %v", err)
			}
			if s.controllers[1].Binds() == 0 {
				t.Error("the second controller was not used")
			}
			before := s.controllers[0].Binds()
			if _, err := s.client.Login(t.Context(), "d1", "alice", "right"); err != nil {
				t.Errorf("second Login = %v", err)
			}
			if s.controllers[0].Binds() != before {
				t.Error("the broken controller was tried first again")
			}
		})
	}
}

// TestLoginAvoidsAControllerThatHungDuringABind checks also that no other controller sees the
// password in the same login: the one that hangs may have counted it.
func TestLoginAvoidsAControllerThatHungDuringABind(t *testing.T) {
	t.Parallel()
	s := start(t, 2, nameGroupBySID)
	s.controllers[0].Break(sim.BindHung)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := s.client.Login(ctx, "d1", "alice", "right"); err == nil {
		t.Error("Login at a controller that does not answer binds succeeded")
	}
	if silent := s.client.Silent("d1"); !slices.Equal(silent, s.spec.Controllers[:1]) {
		t.Errorf("Silent = %q, want the first of %q", silent, s.spec.Controllers)
	}
	if _, err := s.client.Login(t.Context(), "d1", "alice", "right"); err != nil {
		t.Errorf("second Login = %v", err)
	}
}

func TestControllersAreNotBlamedForCallersThatLeave(t *testing.T) {
	t.Parallel()
	s := start(t, 2, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		_, _ = s.client.Login(ctx, "d1", "alice", "right")
	}
	if silent := s.client.Silent("d1"); len(silent) != 0 {
		t.Errorf("Silent = %q, want none", silent)
	}
}

func TestWrongPasswordIsTriedOnOneController(t *testing.T) {
	t.Parallel()
	s := start(t, 3, nameGroupBySID)
	_, _ = s.client.Login(t.Context(), "d1", "bob", "wrong")
	if n := s.controllers[0].Binds() + s.controllers[1].Binds() + s.controllers[2].Binds(); n != 1 {
		t.Errorf("%d controllers saw the password, want 1", n)
	}
}

func TestManyLoginsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, 2, nil)
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if _, err := s.client.Login(t.Context(), "d1", "alice", "right"); err != nil {
				t.Errorf("Login = %v", err)
			}
		})
	}
	wg.Wait()
}

func TestSurveyReadsTheDomain(t *testing.T) {
	t.Parallel()
	s := start(t, 1, func(inv *desktop.Inventory) { inv.Domains[0].NetBIOSName = "" })
	got, err := s.client.Survey(t.Context(), "d1")
	if err != nil {
		t.Fatal(err)
	}
	want := desktop.DomainReading{
		DNSName: "corp.example", NetBIOSName: "CORP", SID: sid, Controller: s.spec.Controllers[0],
		Trusts: []desktop.TrustedDomain{
			{Partner: "lab.example", FlatName: "LAB", SID: "S-1-5-21-4-5-6", Direction: 3, Type: 2, Attributes: 0x20},
			{Partner: "OLD", FlatName: "OLD", SID: "S-1-5-21-7-8-9", Direction: 1, Type: 1},
		},
		Lockout: desktop.LockoutPolicy{Threshold: 5, Window: 30 * time.Minute},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Survey (-want +got):\n%s", diff)
	}
	for _, name := range []string{"corp", "CORP.EXAMPLE"} { // the NetBIOS name was read by the survey
		if d, ok := s.client.Find(name); !ok || d.ID != "d1" {
			t.Errorf("Find(%s) = %v %v", name, d.ID, ok)
		}
	}
	if _, ok := s.client.Find("lab"); ok {
		t.Error("an unknown domain was found")
	}
}

func TestNamesOfAReplacedDomainAreForgotten(t *testing.T) {
	t.Parallel()
	s := start(t, 1, func(inv *desktop.Inventory) { inv.Domains[0].NetBIOSName = "" })
	if _, err := s.client.Survey(t.Context(), "d1"); err != nil {
		t.Fatal(err)
	}
	spec := s.spec
	spec.NetBIOSName = ""
	s.client.Configure(desktop.Inventory{Domains: []desktop.Domain{spec}})
	if _, ok := s.client.Find("CORP"); !ok {
		t.Error("the NetBIOS name was forgotten although the domain is the same")
	}
	spec.DNSName = "other.example"
	s.client.Configure(desktop.Inventory{Domains: []desktop.Domain{spec}})
	if d, ok := s.client.Find("CORP"); ok {
		t.Errorf("CORP is found as %s", d.DNSName)
	}
}

func TestSurveyClassifiesFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		breaks func(*fixture, *desktop.Inventory)
		cause  desktop.Cause
	}{
		{"no controller answers", func(s *fixture, _ *desktop.Inventory) { s.controllers[0].Break(sim.Down) }, desktop.Unreachable},
		{"the only controller hangs", func(s *fixture, _ *desktop.Inventory) { s.controllers[0].Break(sim.Hung) }, desktop.Unreachable},
		{"controllers accept pings only", func(s *fixture, _ *desktop.Inventory) { s.controllers[0].Break(sim.PingOnly) }, desktop.Denied},
		{"its certificate is not trusted", func(_ *fixture, inv *desktop.Inventory) { inv.Domains[0].Trust.CAPEM = "" }, desktop.Untrusted},
		{"the service account is refused", func(s *fixture, _ *desktop.Inventory) { s.password.Store("wrong") }, desktop.Refused},
		{"nothing listens at the only address", func(_ *fixture, inv *desktop.Inventory) {
			dead, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				panic(err)
			}
			_ = dead.Close()
			inv.Domains[0].Controllers = []string{dead.Addr().String()}
		}, desktop.Unreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, 1, nil)
			inv := desktop.Inventory{Domains: []desktop.Domain{s.spec}}
			tt.breaks(s, &inv)
			s.client.Configure(inv)
			timeout := 30 * time.Second
			if strings.HasSuffix(tt.name, "hangs") {
				timeout = 3 * time.Second // the client itself would wait longer
			}
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			_, err := s.client.Survey(ctx, "d1")
			if err == nil {
				t.Fatal("the survey succeeded")
			}
			if f := desktop.FailureOf(err); f.Cause != tt.cause {
				t.Errorf("cause = %s (%s), want %s", f.Cause, f.Reason, tt.cause)
			}
			for _, c := range s.controllers {
				c.Break(sim.Healthy)
			}
			s.password.Store("service")
			s.client.Configure(desktop.Inventory{Domains: []desktop.Domain{s.spec}})
			if _, err := s.client.Survey(t.Context(), "d1"); err != nil {
				t.Errorf("Survey after recovery = %v", err)
			}
		})
	}
}

func TestCheckCloneAccountChecksCredentialsAndPermissionToCreateComputers(t *testing.T) {
	t.Parallel()
	const clones = "OU=Clones,DC=corp,DC=example"
	for _, tt := range []struct {
		name, ou, user, password string
		reason                   directory.Reason
	}{
		{"right password", "", "bob", "right", ""},
		{"wrong password", "", "bob", "wrong", directory.WrongCredentials},
		{"may create computers", clones, "alice", "right", ""},
		{"may not create computers", clones, "bob", "right", directory.CannotJoin},
		{"the organisational unit does not exist", "OU=None,DC=corp,DC=example", "alice", "right", directory.CannotJoin},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, 1, func(inv *desktop.Inventory) { inv.Domains[0].CloneOU = tt.ou })
			if err := s.client.CheckCloneAccount(t.Context(), "d1", tt.user, tt.password); reasonOf(err) != tt.reason || tt.reason == "" && err != nil {
				t.Errorf("CheckCloneAccount = %v, want %q", err, tt.reason)
			}
		})
	}
}

func TestPublicKeyServicesAreRead(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nil)
	got, err := s.client.PublicKeyServices(t.Context(), "d1")
	if err != nil {
		t.Fatal(err)
	}
	want := directory.PublicKeyServices{
		Servers:   []directory.CertificateServer{{Name: "corp-ca", Host: "ca.corp.example", Templates: []string{"TrueSso"}}},
		Templates: []directory.Template{{Name: "TrueSso", DisplayName: got.Templates[0].DisplayName, Usages: []string{sim.SmartCardLogon}, MinimumKey: 2048}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PublicKeyServices (-want +got):\n%s", diff)
	}
}

type records []*directory.SRV

func (r records) LookupSRV(_ context.Context, service, proto, name string) (string, []*directory.SRV, error) {
	if got := service + " " + proto + " " + name; got != "ldap tcp dc._msdcs.corp.example" {
		return "", nil, errors.New("asked for " + got)
	}
	return "", r, nil
}

func TestControllersAreFoundByDNS(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nil)
	s.spec.Controllers = nil
	client := directory.New(directory.Options{Secrets: s, Resolver: records{{Target: "127.0.0.1."}}})
	client.Configure(desktop.Inventory{Domains: []desktop.Domain{s.spec}})
	// Nothing listens on the usual port, but the error shows that the SRV record
	// was used.
	_, err := client.Survey(t.Context(), "d1")
	if err == nil || desktop.FailureOf(err).Reason != "127.0.0.1:389 refuses connections" {
		t.Errorf("Survey = %v", err)
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	s := start(t, 1, nil)
	got, err := directory.Ping(t.Context(), s.spec.Controllers[0], "corp.example")
	want := directory.Pong{Forest: "corp.example", Domain: "corp.example", Host: "dc1.corp.example", NetBIOSName: "CORP", Site: "Default-First-Site-Name"}
	if err != nil || got != want {
		t.Errorf("Ping = %+v %v, want %+v", got, err, want)
	}
	if _, err := directory.Ping(t.Context(), s.spec.Controllers[0], "other.example"); err == nil {
		t.Error("a ping for another domain succeeded")
	}
}
