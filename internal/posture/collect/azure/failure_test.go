package azure_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/azure"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"

	simazure "vigil/internal/sim/azure"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Subscriptions: 2, Government: 1})
	valid := r.access(0)
	accessWith := func(change func(*simazure.Credential)) posture.Access {
		c := r.Reader(simazure.PublicCloud)
		change(&c)
		return r.Subscriptions()[0].Access("org", c)
	}
	elsewhere := valid
	elsewhere.Account.ID = "00000000-0000-0000-0000-000000000001"
	government := r.access(1)
	government.Account.Properties = nil // defaults to the commercial cloud
	for _, c := range []struct {
		name    string
		access  posture.Access
		status  posture.AccountStatus
		message string
	}{
		{"good", valid, posture.AccountActive, ""},
		{"good government", r.access(1), posture.AccountActive, ""},
		{"the secret's id instead of its value", accessWith(func(c *simazure.Credential) { c.Key = "not the key" }), posture.AccountValidationFailed, "The ApplicationKey is wrong: it must be the secret's value, not its identifier (AADSTS7000215)."},
		{"unknown application", accessWith(func(c *simazure.Credential) { c.Application = "00000000-0000-0000-0000-000000000002" }), posture.AccountValidationFailed, "no application with this ApplicationId"},
		{"unknown directory", accessWith(func(c *simazure.Credential) { c.Tenant = "00000000-0000-0000-0000-000000000003" }), posture.AccountValidationFailed, "no directory with this DirectoryId"},
		{"wrong cloud", government, posture.AccountValidationFailed, "check it and the AccountType"},
		{"no role", r.Subscriptions()[0].Access("org", r.Denied(simazure.PublicCloud)), posture.AccountDenyAccess, "permission Microsoft.Resources/subscriptions/read is missing. Assign it the role Reader"},
		{"unknown subscription", elsewhere, posture.AccountDenyAccess, "may not read subscription 00000000-0000-0000-0000-000000000001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			status, reason, err := r.source.Validate(t.Context(), c.access)
			if err != nil || status != c.status || !strings.Contains(reason, c.message) {
				t.Errorf("%s, %q, %v; want %s, %q", status, reason, err, c.status, c.message)
			}
			if strings.Contains(reason, c.access.Secrets[posture.PropApplicationKey]) {
				t.Error("the reason shows the secret")
			}
		})
	}
}

func TestValidateUnreachableCloud(t *testing.T) {
	t.Parallel()
	for _, kind := range []gateway.Kind{gateway.Fail, gateway.Reset, gateway.Garbage, gateway.Throttle} {
		for _, service := range []string{"login", "Microsoft.Resources"} {
			t.Run(service+" "+string(kind), func(t *testing.T) {
				t.Parallel()
				r := newFixture(t, simazure.Options{})
				r.fault(t, gateway.Fault{Match: gateway.Call{Service: service}, Kind: kind})
				status, reason, err := r.source.Validate(t.Context(), r.access(0))
				if err == nil || errors.Is(err, collect.ErrIdentity) || errors.Is(err, collect.ErrDenied) {
					t.Errorf("%s, %q, %v; want an error that blames neither the credential nor a permission", status, reason, err)
				}
			})
		}
	}
}

// detailActions maps the actions of detail calls to the properties that are unknown without
// them, each as "type property".
var detailActions = map[string][]string{
	"Microsoft.Insights/diagnosticSettings/read":                                 {"Azure.KeyVault.Vault logs", "Azure.Subscription.Subscription logs"},
	"Microsoft.Sql/servers/auditingSettings/read":                                {"Azure.Sql.Server auditingState"},
	"Microsoft.Sql/servers/databases/transparentDataEncryption/read":             {"Azure.Sql.Database tdeState"},
	"Microsoft.Web/sites/config/read":                                            {"Azure.Web.Site minTlsVersion", "Azure.Web.Site ftpsState"},
	"Microsoft.DBforPostgreSQL/flexibleServers/configurations/read":              {"Azure.PostgreSQL.FlexibleServer requireSecureTransport"},
	"Microsoft.DBforMySQL/flexibleServers/configurations/read":                   {"Azure.MySQL.FlexibleServer tlsVersion"},
	"Microsoft.Graph/policies/authorizationPolicy/read":                          {"Azure.Entra.Tenant allowedToCreateApps"},
	"Microsoft.Graph/policies/identitySecurityDefaultsEnforcementPolicy/read":    {"Azure.Entra.Tenant securityDefaultsEnabled"},
	"Microsoft.Graph/reports/authenticationMethods/userRegistrationDetails/read": {"Azure.Entra.User isMfaRegistered"},
	"Microsoft.Network/networkWatchers/read":                                     {"Azure.Subscription.Location networkWatcherCount"},
}

// TestDeniedDetailsAreUnknown denies each detail call. Its properties must be unknown and
// name the missing permission.
func TestDeniedDetailsAreUnknown(t *testing.T) {
	t.Parallel()
	for action, unknown := range detailActions {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, simazure.Options{Size: 30})
			service, rest, _ := strings.Cut(action, "/")
			r.fault(t, gateway.Fault{Match: gateway.Call{Service: service, Action: rest}, Kind: gateway.Deny})
			s := r.open(t, r.access(0))
			for _, typeAndName := range unknown {
				typ, name, _ := strings.Cut(typeAndName, " ")
				got, err := list(t, s, posture.EntityType(typ))
				if err != nil || len(got) == 0 {
					t.Fatalf("%d entities of %s, %v", len(got), typ, err)
				}
				found := 0
				for id, e := range got {
					for _, p := range property(e, name) {
						if p.Type != posture.UnknownProperty || p.Error == "" || len(e.Problems()) == 0 {
							t.Errorf("%s: %s is %+v", id, name, p)
						}
						if service != "Microsoft.Graph" && !strings.Contains(p.Error, "permission "+action+" is missing") {
							t.Errorf("%s: %s is unknown because %s, want that permission %s is missing", id, name, p.Error, action)
						}
						found++
					}
				}
				if found == 0 {
					t.Errorf("no %s has %s", typ, name)
				}
			}
		})
	}
}

// TestDeniedListsNameThePermission denies all permissions of each type in turn.
func TestDeniedListsNameThePermission(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 20})
	for _, d := range r.source.Declarations() {
		if d.Service != "arm" || d.Type == "Azure.Subscription.Subscription" {
			continue
		}
		t.Run(string(d.Type), func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, simazure.Options{Size: 20})
			s := r.open(t, r.access(0))
			for _, p := range d.Permissions {
				service, action, _ := strings.Cut(p, "/")
				r.fault(t, gateway.Fault{Match: gateway.Call{Service: service, Action: action}, Kind: gateway.Deny})
			}
			got, err := list(t, s, d.Type)
			var denied *collect.DeniedError
			if !errors.As(err, &denied) || !slices.Contains(d.Permissions, denied.Permission) {
				t.Errorf("%d entities, %v; want an error that names a missing permission", len(got), err)
			}
		})
	}
}

// TestDeniedEdgesAreUnknown denies each permission of each type in turn. Entities that are
// still read must have the same edges, or report them as unknown.
func TestDeniedEdgesAreUnknown(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 60})
	unknown := 0
	for _, d := range r.source.Declarations() {
		complete, err := list(t, r.open(t, r.access(0)), d.Type)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.Permissions {
			service, action, ok := strings.Cut(p, "/")
			if !ok || p == "Microsoft.Resources/subscriptions/read" {
				continue // a permission of Graph, or the one without which a subscription cannot be opened
			}
			r.fault(t, gateway.Fault{Match: gateway.Call{Service: service, Action: action}, Kind: gateway.Deny})
			got, err := list(t, r.open(t, r.access(0)), d.Type)
			r.faults.Remove("") // all
			for id, old := range complete {
				e := got[id]
				if e == nil && err == nil {
					t.Errorf("without %s: %s is missing", p, id)
				}
				if e == nil {
					continue
				}
				for _, edge := range old.Edges {
					isSameEdge := func(o posture.Edge) bool { return o.Label == edge.Label && o.To == edge.To }
					switch {
					case e.IsUnread(edge.Label):
						unknown++
					case !slices.ContainsFunc(e.Edges, isSameEdge):
						t.Errorf("without %s: the edge %s of %s to %s is missing", p, edge.Label, id, edge.To)
					}
				}
			}
		}
	}
	if unknown == 0 {
		t.Error("no edge is unknown")
	}
}

func TestDirectoryWithoutConsentIsUnknown(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 20})
	s := r.open(t, r.Subscriptions()[0].Access("org", r.Unconsented(simazure.PublicCloud)))
	if _, err := list(t, s, "Azure.Entra.User"); !errors.Is(err, collect.ErrDenied) || !strings.Contains(err.Error(), "Directory.Read.All") {
		t.Errorf("users: %v", err)
	}
	got, err := list(t, s, "Azure.Entra.Tenant")
	if err != nil || len(got) != 1 {
		t.Fatalf("%d tenants, %v", len(got), err)
	}
	for _, e := range got {
		for _, p := range e.Properties {
			if p.Type != posture.UnknownProperty {
				t.Errorf("%+v, want unknown", p)
			}
		}
		if len(e.Problems()) != 5 { // one for each call that reads the tenant
			t.Errorf("problems of the tenant: %v, want 5", e.Problems())
		}
	}
	if _, err := list(t, s, "Azure.Compute.VirtualMachine"); err != nil {
		t.Error(err)
	}
}

// TestServiceNotEnabledIsNoError expects ErrOff, which does not fail a collection.
func TestServiceNotEnabledIsNoError(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{})
	r.fault(t, gateway.Fault{Match: gateway.Call{Service: "Microsoft.Sql"}, Kind: gateway.Off})
	r.fault(t, gateway.Fault{Match: gateway.Call{Service: "Microsoft.Security"}, Kind: gateway.Off})
	s := r.open(t, r.access(0))
	for _, typ := range []posture.EntityType{"Azure.Sql.Server", "Azure.Sql.Database"} {
		if got, err := list(t, s, typ); !errors.Is(err, collect.ErrOff) || len(got) != 0 {
			t.Errorf("%s: %d entities, %v", typ, len(got), err)
		}
	}
	// Rules check whether there are contacts and plans, so a placeholder entity stands for their absence.
	for _, typ := range []posture.EntityType{"Azure.Security.SecurityContact", "Azure.Security.Pricing"} {
		if got, err := list(t, s, typ); err != nil || len(got) != 1 {
			t.Errorf("%s: %v, %v; want one entity", typ, got, err)
		}
	}
}

// TestUnlistedEligibleRolesAreUnknown denies the eligible roles only to the list of directory roles. The
// list then lacks a role for which a user is eligible but that nobody is assigned.
func TestUnlistedEligibleRolesAreUnknown(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 30})
	r.fault(t, gateway.Fault{Match: gateway.Call{Action: "roleManagement/directory/roleEligibilityScheduleInstances/read"}, Kind: gateway.Deny, Times: 1})
	users, err := list(t, r.open(t, r.access(0)), "Azure.Entra.User")
	if err != nil {
		t.Fatal(err)
	}
	unknown := 0
	for id, u := range users {
		for _, p := range property(u, "MEMBER_OF") {
			if p.Type != posture.UnknownProperty || !strings.Contains(p.Error, "Privileged Role Administrator") {
				t.Errorf("%s: %+v, want that Privileged Role Administrator could not be read", id, p)
			}
			unknown++
		}
	}
	if unknown == 0 {
		t.Errorf("the directory roles of all %d users are known", len(users))
	}
}

// recordingLimiter is a limiter that records its calls.
type recordingLimiter struct {
	mu        sync.Mutex
	waits     map[collect.Key]int
	throttles []time.Duration
}

func (l *recordingLimiter) Wait(_ context.Context, k collect.Key) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits[k]++
	return nil
}

func (l *recordingLimiter) Throttled(_ collect.Key, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.throttles = append(l.throttles, after)
}

func TestThrottledCallsAreRetried(t *testing.T) {
	t.Parallel()
	limiter := &recordingLimiter{waits: map[collect.Key]int{}}
	r := newFixture(t, simazure.Options{Size: 20}, func(o *azure.Options) { o.Limiter = limiter })
	s := r.open(t, r.access(0))
	r.fault(t, gateway.Fault{Match: gateway.Call{Action: "disks/read"}, Kind: gateway.Throttle, Times: 1, RetryAfter: gateway.Duration(time.Second)})
	r.fault(t, gateway.Fault{Match: gateway.Call{Action: "users/read"}, Kind: gateway.Throttle, Times: 1})
	start := time.Now()
	if got, err := list(t, s, "Azure.Compute.Disk"); err != nil || len(got) == 0 {
		t.Errorf("%d disks, %v", len(got), err)
	}
	if elapsed := time.Since(start); elapsed < time.Second {
		t.Errorf("retried after %v, want a second", elapsed)
	}
	if _, err := list(t, s, "Azure.Entra.User"); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 0}, limiter.throttles); diff != "" {
		t.Errorf("delays of throttled calls (-want +got):\n%s", diff)
	}
	account := posture.AccountID(r.Subscriptions()[0].ID)
	arm, graph := limiter.waits[collect.Key{Provider: posture.Azure, Account: account, Service: "arm"}], limiter.waits[collect.Key{Provider: posture.Azure, Account: account, Service: "graph"}]
	// The subscription once and the disks twice; the users twice, their roles and their MFA registrations.
	if len(limiter.waits) != 2 || arm != 3 || graph < 4 {
		t.Errorf("calls that waited for the limiter: %v; want 3 to arm and at least 4 to graph", limiter.waits)
	}
	r.fault(t, gateway.Fault{Match: gateway.Call{Action: "disks/read"}, Kind: gateway.Throttle})
	if _, err := list(t, s, "Azure.Compute.Disk"); !errors.Is(err, collect.ErrThrottled) {
		t.Errorf("a cloud that always throttles: %v", err)
	}
}

// TestTransientFaultsAreRetried makes a call fail up to twice. The source tries it three times.
func TestTransientFaultsAreRetried(t *testing.T) {
	t.Parallel()
	for _, kind := range []gateway.Kind{gateway.Fail, gateway.Reset, gateway.Garbage, gateway.Half, gateway.Expire} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, simazure.Options{Size: 40, Page: 3})
			s := r.open(t, r.access(0))
			want, err := list(t, s, "Azure.Storage.StorageAccount")
			if err != nil {
				t.Fatal(err)
			}
			times := 2
			if kind == gateway.Expire {
				times = 1 // the token of a call is renewed only once
			}
			r.fault(t, gateway.Fault{Match: gateway.Call{Action: "storageAccounts/read"}, Kind: kind, Times: times, Skip: 1})
			s = r.open(t, r.access(0)) // has an empty cache
			got, err := list(t, s, "Azure.Storage.StorageAccount")
			if err != nil || len(got) != len(want) {
				t.Errorf("%d of %d accounts, %v", len(got), len(want), err)
			}
		})
	}
}

// TestPermanentFaultsFailTheList checks that no fault is accepted as a response.
func TestPermanentFaultsFailTheList(t *testing.T) {
	t.Parallel()
	for _, kind := range []gateway.Kind{gateway.Fail, gateway.Reset, gateway.Garbage, gateway.Half, gateway.Stall, gateway.Hang, gateway.Expire} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			r := newFixture(t, simazure.Options{Size: 40, Page: 3}, func(o *azure.Options) {
				o.Attempts = 2
				if kind == gateway.Stall || kind == gateway.Hang { // the others must not run out of time on a busy machine
					o.Timeout = 2 * time.Second
				}
			})
			s := r.open(t, r.access(0))
			r.fault(t, gateway.Fault{Match: gateway.Call{Action: "disks/read"}, Kind: kind, Skip: 1})
			_, err := list(t, s, "Azure.Compute.Disk")
			if err == nil || errors.Is(err, collect.ErrOff) || errors.Is(err, collect.ErrGone) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want one that does not stand for missing resources or a cancelled run", err)
			}
			if errors.Is(err, collect.ErrIdentity) != (kind == gateway.Expire) {
				t.Errorf("error %v; only an expired token must be a problem of the identity", err)
			}
		})
	}
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{})
	s := r.open(t, r.access(0))
	r.fault(t, gateway.Fault{Match: gateway.Call{Action: "disks/read"}, Kind: gateway.Hang})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	u, _ := s.Unit("Azure.Compute.Disk", posture.Global)
	if err := u.List(ctx, func(*collect.Resource) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
}

// TestUnreadableParentKeepsOtherItems denies the firewall rules of one server. Those of the
// other servers must be read, and the list must fail, because it is incomplete.
func TestUnreadableParentKeepsOtherItems(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 60})
	s := r.open(t, r.access(0))
	r.fault(t, gateway.Fault{Match: gateway.Call{Action: "servers/firewallRules/read"}, Kind: gateway.Deny, Times: 1})
	got, err := list(t, s, "Azure.Sql.FirewallRule")
	if !errors.Is(err, collect.ErrDenied) || len(got) != 4 {
		t.Errorf("%d rules of 6, %v; want the 4 of the other servers and a denied call", len(got), err)
	}
	stop := errors.New("the disk is full")
	u, _ := s.Unit("Azure.Sql.FirewallRule", posture.Global)
	if err := u.List(t.Context(), func(*collect.Resource) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of the recorder is lost: %v", err)
	}
}

// TestVanishedResourceIsUnknown removes the configuration of each site. The call for the configuration
// then gets the same response as for a site that was deleted after it was listed.
func TestVanishedResourceIsUnknown(t *testing.T) {
	t.Parallel()
	r := newFixture(t, simazure.Options{Size: 20})
	s := r.open(t, r.access(0))
	before, err := list(t, s, "Azure.Web.Site")
	if err != nil || len(before) == 0 {
		t.Fatalf("%d sites, %v", len(before), err)
	}
	for id, e := range before {
		if p := property(e, "ftpsState"); len(p) != 1 || p[0].Type == posture.UnknownProperty {
			t.Errorf("%s: ftpsState is %+v before the configuration is removed", id, p)
		}
		if err := r.Change(simazure.Change{ID: e.XID, Patch: world.Obj("_config/web", nil)}); err != nil {
			t.Fatal(err)
		}
	}
	after, err := list(t, s, "Azure.Web.Site")
	if err != nil || len(after) != len(before) {
		t.Fatalf("%d sites of %d, %v", len(after), len(before), err)
	}
	for id, e := range after {
		if p := property(e, "ftpsState"); len(p) != 1 || p[0].Type != posture.UnknownProperty {
			t.Errorf("%s: ftpsState is %+v", id, p)
		}
	}
}
