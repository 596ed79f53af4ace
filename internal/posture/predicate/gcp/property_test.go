package gcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/predicate/predicatetest"
)

var (
	someProtocols = []string{"all", "tcp", "tcp:22", "tcp:20-30", "tcp:23-65535", "udp", "icmp", "tcp:80;tcp:22"}
	someSources   = []string{"0.0.0.0/0", "::/0", "0.0.0.0/0,::/0", "0.0.0.0/1", "128.0.0.0/1", "10.0.0.0/8", "34.0.0.0/8"}
	someTargets   = []string{"", "", "", " target=web", " target=db"} // most rules have none
)

func drawLine(t *rapid.T, action string, understood bool) string {
	sources := someSources
	if !understood {
		sources = append(slices.Clone(sources), "somewhere")
	}
	return fmt.Sprintf("%d %s %s %s%s", rapid.IntRange(1, 9).Draw(t, "priority"), action, rapid.SampledFrom(someProtocols).Draw(t, "protocol"),
		rapid.SampledFrom(sources).Draw(t, "source"), rapid.SampledFrom(someTargets).Draw(t, "target"))
}

func drawLines(t *rapid.T, actions []string, understood bool) []string {
	var lines []string
	for range rapid.IntRange(0, 4).Draw(t, "rules") {
		lines = append(lines, drawLine(t, rapid.SampledFrom(actions).Draw(t, "action"), understood))
	}
	return lines
}

// drawFirewall returns a network with policies. Rules that are not understood are among them unless understood is true.
func drawFirewall(t *rapid.T, understood bool) firewall {
	policyActions := []string{"allow", "deny", "goto_next"}
	return firewall{
		Org: drawLines(t, policyActions, understood), Folder: drawLines(t, policyActions, understood), Policy: drawLines(t, policyActions, understood), Region: drawLines(t, policyActions, understood),
		VPC: drawLines(t, []string{"allow", "deny"}, understood), Before: rapid.Bool().Draw(t, "before"),
	}
}

// stages are the lists of rules of a firewall.
func (in *firewall) stages() []*[]string {
	return []*[]string{&in.Org, &in.Folder, &in.Policy, &in.Region, &in.VPC}
}

func (in firewall) clone() firewall {
	for _, stage := range in.stages() {
		*stage = slices.Clone(*stage)
	}
	return in
}

// TestDenyNeverOpensPort adds a deny rule at any level with any priority.
func TestDenyNeverOpensPort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawFirewall(t, false)
		after := before.clone()
		stage := after.stages()[rapid.IntRange(0, 4).Draw(t, "stage")]
		deny := drawLine(t, "deny", true)
		*stage = append(*stage, deny)
		if a, b := after.ask(), before.ask(); worse(a, b) {
			t.Fatalf("%v became %v by %s\n%+v", b, a, deny, before)
		}
	})
}

// TestAllowNeverClosesPort adds an allow rule at any level with any priority.
func TestAllowNeverClosesPort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawFirewall(t, false)
		after := before.clone()
		stage := after.stages()[rapid.IntRange(0, 4).Draw(t, "stage")]
		allow := drawLine(t, "allow", false)
		*stage = append(*stage, allow)
		if a, b := after.ask(), before.ask(); worse(b, a) {
			t.Fatalf("%v became %v by %s\n%+v", b, a, allow, before)
		}
	})
}

// TestLaterAllowOpensNoMore moves an allow rule behind the others of its level.
func TestLaterAllowOpensNoMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawFirewall(t, false)
		stage := rapid.IntRange(0, 4).Draw(t, "stage")
		allow := drawLine(t, "allow", true)
		early, late := before.clone(), before.clone()
		*early.stages()[stage] = append(*early.stages()[stage], allow)
		*late.stages()[stage] = append(*late.stages()[stage], "99"+allow) // priority 991 to 999
		if a, b := late.ask(), early.ask(); worse(a, b) {
			t.Fatalf("%v became %v by a later %s\n%+v", b, a, allow, before)
		}
	})
}

// TestWideningNeverCloses replaces the source of an allow rule by everybody.
func TestWideningNeverCloses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawFirewall(t, false)
		for i := range before.stages() {
			for j, line := range *before.stages()[i] {
				f := strings.Fields(line)
				if f[1] != "allow" || f[3] == "somewhere" {
					continue
				}
				f[3] = "0.0.0.0/0,::/0"
				after := before.clone()
				(*after.stages()[i])[j] = strings.Join(f, " ")
				if a, b := after.ask(), before.ask(); worse(b, a) {
					t.Fatalf("%v became %v by widening %s\n%+v", b, a, line, before)
				}
			}
		}
	})
}

// TestUnreadableRuleNeverDecides makes the source of one rule unreadable: the answer
// stays the same or becomes unknown.
func TestUnreadableRuleNeverDecides(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawFirewall(t, true)
		whole := before.ask()
		for i := range before.stages() {
			for j, line := range *before.stages()[i] {
				f := strings.Fields(line)
				f[3] = "somewhere"
				after := before.clone()
				(*after.stages()[i])[j] = strings.Join(f, " ")
				if a := after.ask(); a.Truth != whole.Truth && a.Truth != predicate.Unknown {
					t.Fatalf("%v became %v when the source of %q was not readable\n%+v", whole, a, line, before)
				}
			}
		}
	})
}

// TestReachesMatchesPacketSimulation compares the predicate with a simulation of
// single packets to machines with all combinations of network tags and secure tags.
func TestReachesMatchesPacketSimulation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawFirewall(t, true)
		want := false
		// The other sources of rules are too small for Reaches to count them as the internet.
		for _, sender := range []string{"0.0.0.0/1", "128.0.0.0/1", "::/0"} {
			for machine := range 16 {
				var tags []string
				for bit, tag := range []string{"network web", "network db", "secure web", "secure db"} {
					if machine>>bit&1 == 1 {
						tags = append(tags, tag)
					}
				}
				want = want || in.passes(sender, tags)
			}
		}
		if got := in.ask(); (got.Truth == predicate.Yes) != want {
			t.Fatalf("%v, want %t\n%+v", got, want, in)
		}
	})
}

// passes simulates a packet from a network of senders to TCP port 22 of a machine with
// some tags ("network x" or "secure x").
func (in firewall) passes(sender string, tags []string) bool {
	order := [][]string{in.Org, in.Folder, in.VPC, in.Policy, in.Region}
	if in.Before {
		order = [][]string{in.Org, in.Folder, in.Policy, in.Region, in.VPC}
	}
	for i, lines := range order {
		kind := "secure "
		if i == 2 && !in.Before || i == 4 && in.Before { // in.VPC
			kind = "network "
		}
		lines = slices.Clone(lines)
		slices.SortStableFunc(lines, func(a, b string) int {
			if a[0] != b[0] { // the priority, which drawLine draws with one digit
				return int(a[0]) - int(b[0])
			}
			return -strings.Compare(strings.Fields(a)[1], strings.Fields(b)[1]) // deny before allow
		})
		for _, text := range lines {
			l := parse(text)
			if l.target != "" && !slices.Contains(tags, kind+l.target) || !slices.ContainsFunc(l.sources, func(s string) bool { return s == sender || s == "0.0.0.0/0" && sender != "::/0" }) {
				continue
			}
			if !slices.ContainsFunc(l.protocols, func(p string) bool { return slices.Contains([]string{"all", "tcp", "tcp:22", "tcp:20-30"}, p) }) {
				continue
			}
			if l.action == "goto_next" {
				break
			}
			return l.action == "allow"
		}
	}
	return false
}

// TestPolicyIsMonotonic removes bindings, adds bindings for everybody, and makes policies and roles unreadable.
func TestPolicyIsMonotonic(t *testing.T) {
	t.Parallel()
	for _, e := range predicatetest.Read[public](t, "testdata/public.yaml") {
		whole := e.Input.ask()
		for i, p := range e.Input.Policies {
			less, unread := e.Input, e.Input
			less.Policies, unread.Policies = slices.Clone(less.Policies), slices.Clone(unread.Policies)
			less.Policies[i], unread.Policies[i] = map[string]any{}, nil
			if after := less.ask(); p != nil && worse(after, whole) {
				t.Errorf("%s: %v became %v without policy %d", e.Name, whole, after, i)
			}
			if after := unread.ask(); after.Truth != whole.Truth && after.Truth != predicate.Unknown {
				t.Errorf("%s: %v became %v when policy %d was refused", e.Name, whole, after, i)
			}
		}
		more := e.Input
		more.Policies = append(slices.Clone(more.Policies), map[string]any{"bindings": []any{map[string]any{"role": "r", "members": []any{"allUsers"}}}})
		if after := more.ask(); worse(whole, after) {
			t.Errorf("%s: %v became %v with another binding", e.Name, whole, after)
		}
		unread := e.Input
		unread.Prevented = ""
		if after := unread.ask(); e.Input.Kind == "bucket" && after.Truth != whole.Truth && after.Truth != predicate.Unknown {
			t.Errorf("%s: %v became %v when the organisation policy was refused", e.Name, whole, after)
		}
	}
	for _, e := range predicatetest.Read[privileged](t, "testdata/privileged.yaml") {
		whole := e.Input.ask()
		for i := range e.Input.Policies {
			for j := range e.Input.Policies[i] {
				less := e.Input
				less.Policies = slices.Clone(less.Policies)
				less.Policies[i] = slices.Delete(slices.Clone(less.Policies[i]), j, j+1)
				if after := less.ask(); worse(after, whole) {
					t.Errorf("%s: %v became %v with a binding less", e.Name, whole, after)
				}
			}
		}
		unread := e.Input
		unread.Roles = nil
		if after := unread.ask(); after.Truth != whole.Truth && after.Truth != predicate.Unknown {
			t.Errorf("%s: %v became %v when roles were refused", e.Name, whole, after)
		}
	}
	for _, e := range predicatetest.Read[admin](t, "testdata/admin.yaml") {
		more := e.Input
		more.Permissions = append(slices.Clone(more.Permissions), "iam.roles.update")
		if after := more.ask(); worse(e.Input.ask(), after) {
			t.Errorf("%s: it controls less with another permission: %v", e.Name, after)
		}
	}
	if got := gcp.Public(nil); got.Truth != predicate.No {
		t.Errorf("without a policy: %v", got)
	}
}
