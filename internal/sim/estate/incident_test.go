package estate

import (
	"sync"
	"testing"

	"vigil/internal/sim/directory"
	"vigil/internal/sim/flakylistener"
)

// TestEndingAnIncidentKeepsTheOthersOfItsComponent begins incidents of one component and ends
// some of them.
func TestEndingAnIncidentKeepsTheOthersOfItsComponent(t *testing.T) {
	t.Parallel()
	e, err := New(Options{Dir: t.TempDir(), Size: Small()})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	lab, corp := e.Domains[2], e.Domains[0]
	for _, step := range []struct {
		begin, end string
		want       directory.Fault
	}{
		{begin: "domain-down", want: directory.Down},
		{begin: "domain-refuses-binds", want: directory.PingOnly},
		{begin: "domain-hangs", want: directory.Hung},
		{end: "domain-down", want: directory.Hung},
		{end: "domain-hangs", want: directory.PingOnly},
		{begin: "domain-down", want: directory.Down},
		{begin: "domain-refuses-binds", want: directory.PingOnly}, // is active already; begins again after domain-down
		{end: "domain-refuses-binds", want: directory.Down},
		{end: "domain-refuses-binds", want: directory.Down}, // is no longer active
		{end: "domain-down", want: directory.Healthy},
	} {
		if step.begin != "" {
			err = e.Begin(step.begin)
		} else {
			err = e.End(step.end)
		}
		if got := lab.Fault(); err != nil || got != step.want {
			t.Errorf("after begin %q, end %q: fault %d, want %d: %v", step.begin, step.end, got, step.want, err)
		}
	}
	for _, begin := range []string{"sso-template-gone", "sso-template-weak", "saml-down", "saml-expired"} {
		if err := e.Begin(begin); err != nil {
			t.Fatal(err)
		}
	}
	for _, end := range []string{"sso-template-gone", "saml-expired"} {
		if err := e.End(end); err != nil {
			t.Fatal(err)
		}
	}
	corp.Change(func(d *directory.Domain) { // changes nothing: this is how to read the templates
		if len(d.Templates) != 1 || d.Templates[0].KeySize != 1024 {
			t.Errorf("sso-template-weak is active, and the templates are %v", d.Templates)
		}
	})
	if got := e.SAML.Listener().State(); got != flakylistener.Down {
		t.Errorf("saml-down is active, and the state is %d", got)
	}
}

// TestIncidentsMatchTheirStates begins and ends an incident concurrently.
func TestIncidentsMatchTheirStates(t *testing.T) {
	t.Parallel()
	e, err := New(Options{Dir: t.TempDir(), Size: Small()})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	for range 200 {
		var work sync.WaitGroup
		for _, do := range []func(string) error{e.Begin, e.End} {
			work.Go(func() {
				if err := do("domain-down"); err != nil {
					t.Error(err)
				}
			})
		}
		work.Wait()
		active := false
		for _, i := range e.Incidents() {
			active = active || i.Active
		}
		if down := e.Domains[2].Fault() == directory.Down; down != active {
			t.Fatalf("the domain is down: %v, the incident is active: %v", down, active)
		}
	}
}
