package gcp_test

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
	"vigil/internal/posture/collect/collecttest"
	"vigil/internal/sim/gateway"
	simgcp "vigil/internal/sim/gcp"
)

// A recordingLimiter is a limiter without limits that records its calls.
type recordingLimiter struct {
	mu        sync.Mutex
	waits     map[collect.Key]int
	throttled map[collect.Key][]time.Duration
}

func (l *recordingLimiter) Wait(ctx context.Context, k collect.Key) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits[k]++
	return ctx.Err()
}

func (l *recordingLimiter) Throttled(k collect.Key, after time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.throttled[k] = append(l.throttled[k], after)
}

// TestTransientFaultsAreRetried makes every third call fail and expects the same result as without
// faults.
func TestTransientFaultsAreRetried(t *testing.T) {
	t.Parallel()
	faultless := start(t, simgcp.Options{Seed: 3, Size: 60})
	want := collecttest.All(t, faultless.source(), faultless.access(0))
	for _, kind := range []gateway.Kind{gateway.Throttle, gateway.Fail, gateway.Reset, gateway.Garbage, gateway.Half, gateway.Expire} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			c := start(t, simgcp.Options{Seed: 3, Size: 60})
			c.options.Attempts = 4
			if _, err := c.faults.Add(gateway.Fault{Kind: kind, Rate: 1.0 / 3, Match: gateway.Call{Service: "[!o]*"}}); err != nil { // all services but oauth2
				t.Fatal(err)
			}
			got := collecttest.All(t, c.source(), c.access(0))
			if diff := cmp.Diff(want.Entities, got.Entities); diff != "" || len(got.Failures) > 0 || len(got.Problems) > 0 {
				t.Errorf("%v %v (-faultless +%s):\n%s", got.Failures, got.Problems, kind, diff)
			}
		})
	}
}

func TestLimiterCalls(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 3, Size: 60})
	limiter := &recordingLimiter{waits: map[collect.Key]int{}, throttled: map[collect.Key][]time.Duration{}}
	c.options.Limiter = limiter
	c.fault(t, "compute.routes.list", gateway.Fault{Kind: gateway.Throttle, Times: 1}) // Compute Engine responds with 403
	c.fault(t, "pubsub.projects.topics.list", gateway.Fault{Kind: gateway.Throttle, Times: 1, RetryAfter: gateway.Duration(time.Second)})
	begin := time.Now()
	got := collecttest.All(t, c.source(), c.access(0), "GCP.Compute.Route", "GCP.PubSub.Topic", "GCP.IAM.ServiceAccountKey")
	if len(got.Failures) > 0 || time.Since(begin) < time.Second {
		t.Errorf("%v after %v", got.Failures, time.Since(begin))
	}
	key := func(service string) collect.Key {
		return collect.Key{Provider: posture.GCP, Account: c.access(0).Account.ID, Service: service}
	}
	want := map[collect.Key][]time.Duration{key("compute"): {0}, key("pubsub"): {time.Second}}
	if diff := cmp.Diff(want, limiter.throttled); diff != "" {
		t.Errorf("throttles (-want +got):\n%s", diff)
	}
	waits := limiter.waits
	if waits[key("compute")] != 2 || waits[key("pubsub")] != 2 || waits[key("iam.gcp")] < 2 || waits[key("oauth2")] != 1 {
		t.Errorf("waits are %v; want 2 for each throttled call, at least 2 for iam and 1 for the token", waits)
	}
	calls := c.faults.Calls()
	if n := calls[gateway.Call{Cloud: "gcp", Account: c.Projects()[0].ID, Service: "oauth2", Action: "token"}]; n != 1 {
		t.Errorf("%d tokens were requested, want 1", n)
	}
}

// TestPermanentFaultsFailTheList makes one list fail permanently: only that list
// must fail, with a clear error.
func TestPermanentFaultsFailTheList(t *testing.T) {
	t.Parallel()
	const kind = posture.EntityType("GCP.Compute.Firewall")
	for fault, tt := range map[gateway.Kind]struct {
		class   error // nil if it is none of the classes
		message string
	}{
		gateway.Throttle: {collect.ErrThrottled, "throttled (rateLimitExceeded)"},
		gateway.Deny:     {collect.ErrDenied, "permission compute.firewalls.list is missing"},
		gateway.Expire:   {collect.ErrIdentity, "no longer accepts the key"},
		gateway.Off:      {collect.ErrOff, "compute.googleapis.com is not enabled"},
		gateway.Fail:     {nil, "Google responded with 503 backendError"},
		gateway.Garbage:  {nil, "not JSON"},
		gateway.Half:     {nil, "call Google: read response"},
		gateway.Reset:    {nil, ""},
		gateway.Hang:     {nil, "did not answer in time"},
		gateway.Stall:    {nil, "did not answer in time"},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			c := start(t, simgcp.Options{Seed: 3, Size: 60})
			c.options.Attempts = 2
			if fault == gateway.Hang || fault == gateway.Stall { // the others must not run out of time on a busy machine
				c.options.Timeout = 2 * time.Second
			}
			c.fault(t, "compute.firewalls.list", gateway.Fault{Kind: fault})
			got := collecttest.All(t, c.source(), c.access(0), kind, "GCP.Compute.Route")
			err := got.Failure(kind)
			if err == nil || !strings.Contains(err.Error(), tt.message) || tt.class != nil && !errors.Is(err, tt.class) {
				t.Fatalf("%v; want %q", err, tt.message)
			}
			for _, class := range []error{collect.ErrIdentity, collect.ErrDenied, collect.ErrThrottled, collect.ErrOff, collect.ErrGone, context.DeadlineExceeded} {
				if errors.Is(err, class) && class != tt.class {
					t.Errorf("%v is also of the class %v", err, class)
				}
			}
			if len(got.Failures) != 1 || len(got.EntitiesOf("GCP.Compute.Route")) == 0 {
				t.Errorf("failures %v, want only that of %s", got.Failures, kind)
			}
		})
	}
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{})
	session, err := c.source().Open(t.Context(), c.access(0))
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	c.fault(t, "*.*", gateway.Fault{Kind: gateway.Hang})
	for _, d := range c.source().Declarations() {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		unit, _ := session.Unit(d.Type, posture.Global)
		err := unit.List(ctx, func(*collect.Resource) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) || !collect.IsFatal(err) {
			t.Errorf("%s: %v, want the fatal error of the context", d.Type, err)
		}
		cancel()
	}
}

// TestDisabledServices disables one service at a time in the project of the service account. Lists
// of this project return ErrOff, which means that there are no resources. Lists of another project
// fail, because it may have resources.
func TestDisabledServices(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 3, Size: 60, Projects: 2})
	services := map[string][]posture.EntityType{}
	for _, d := range c.source().Declarations() {
		host := strings.TrimSuffix(d.Service, ".gcp")
		services[host] = append(services[host], d.Type)
	}
	delete(services, "cloudresourcemanager") // needed to open a project
	for service, types := range services {
		id, err := c.faults.Add(gateway.Fault{Kind: gateway.Off, Match: gateway.Call{Service: service}})
		if err != nil {
			t.Fatal(err)
		}
		ownProject := collecttest.All(t, c.source(), c.access(0), types...)
		for _, kind := range types {
			if kind == "GCP.AccessApproval.Settings" { // a project that does not use the service is not enrolled
				enrolled := ""
				for _, e := range ownProject.EntitiesOf(kind) {
					for _, p := range e.Properties {
						if p.Name == "enrolled" {
							enrolled += p.Plain()
						}
					}
				}
				if enrolled != "false" {
					t.Errorf("%s is off: enrolled %q, want one resource with false", service, enrolled)
				}
				continue
			}
			if kind == "GCP.IAM.Role" { // the policy of the project, which another API returns, names the predefined roles that are granted
				roles := ownProject.EntitiesOf(kind)
				predefined := !slices.ContainsFunc(roles, func(e posture.Entity) bool { return !strings.HasPrefix(e.Name, "roles/") })
				if err := ownProject.Failure(kind); err != nil || len(roles) == 0 || !predefined {
					t.Errorf("%s is off: %v, %d roles were read, only predefined ones: %v", service, err, len(roles), predefined)
				}
				continue
			}
			if err := ownProject.Failure(kind); !errors.Is(err, collect.ErrOff) || len(ownProject.EntitiesOf(kind)) > 0 || len(ownProject.Problems[kind]) > 0 {
				t.Errorf("%s is off: %s: %v, %d read, %v", service, kind, err, len(ownProject.EntitiesOf(kind)), ownProject.Problems[kind])
			}
		}
		otherProject := collecttest.All(t, c.source(), c.access(1), types...)
		for _, kind := range types {
			if err := otherProject.Failure(kind); err == nil || errors.Is(err, collect.ErrOff) || !strings.Contains(err.Error(), "enable it there") {
				t.Errorf("%s is disabled in the project of the key: %s: %v", service, kind, err)
			}
		}
		c.faults.Remove(id)
	}
}

// TestDisabledResourceManager disables the API of projects and their policies while a project is read. The
// project and its policy still exist, so that types that are made from them fail.
func TestDisabledResourceManager(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 3, Size: 60})
	types := []posture.EntityType{"GCP.CloudResourceManager.Project", "GCP.IAM.Role", "GCP.IAM.Principal"}
	// The first call opens the project.
	if _, err := c.faults.Add(gateway.Fault{Kind: gateway.Off, Match: gateway.Call{Service: "cloudresourcemanager"}, Skip: 1}); err != nil {
		t.Fatal(err)
	}
	got := collecttest.All(t, c.source(), c.access(0), types...)
	for _, kind := range types {
		if err := got.Failure(kind); err == nil || errors.Is(err, collect.ErrOff) || !strings.Contains(err.Error(), "enable it") {
			t.Errorf("%s: %v, want an error that says to enable the API", kind, err)
		}
	}
}

// TestDisabledServicesOfDerivedProperties checks properties that are derived from another service, which is
// disabled in the project of the service account. There the property is false. In another project, which
// may use the service, it is unknown.
func TestDisabledServicesOfDerivedProperties(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 3, Size: 60, Projects: 2})
	for _, service := range []string{"dns", "logging", "monitoring"} {
		if _, err := c.faults.Add(gateway.Fault{Kind: gateway.Off, Match: gateway.Call{Service: service}}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{posture.BoolProperty, posture.UnknownProperty} { // by project; the first is the service account's
		got := collecttest.All(t, c.source(), c.access(i), "GCP.Compute.Network", "GCP.CloudResourceManager.Project")
		for _, tt := range []struct {
			kind posture.EntityType
			name string
		}{
			{"GCP.Compute.Network", "dnsLogging"},
			{"GCP.CloudResourceManager.Project", "exportsAllLogs"},
			{"GCP.CloudResourceManager.Project", "watchesOwnership"},
		} {
			for _, e := range got.EntitiesOf(tt.kind) {
				if p, _ := property(e, tt.name); p.Type != want || p.Bool {
					t.Errorf("project %d: %s of %s is %+v, want false or unknown of type %s", i, tt.name, e.ID, p, want)
				}
			}
		}
	}
}

// TestExpiredTokenIsRenewed makes the token expire while a project is read.
func TestExpiredTokenIsRenewed(t *testing.T) {
	t.Parallel()
	c := start(t, simgcp.Options{Seed: 3, Size: 60})
	c.fault(t, "compute.*", gateway.Fault{Kind: gateway.Expire, Times: 1, Skip: 1})
	got := collecttest.All(t, c.source(), c.access(0), "GCP.Compute.Firewall", "GCP.Compute.Route", "GCP.Compute.Disk")
	if len(got.Failures) > 0 {
		t.Errorf("failures %v, want none", got.Failures)
	}
	if n := c.faults.Calls()[gateway.Call{Cloud: "gcp", Account: c.Projects()[0].ID, Service: "oauth2", Action: "token"}]; n != 2 {
		t.Errorf("%d tokens were requested, want 2", n)
	}
}
