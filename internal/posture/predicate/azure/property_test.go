package azure_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/azure"
	"vigil/internal/posture/predicate/predicatetest"
)

var (
	someSources = []string{"*", "Internet", "10.0.0.0/8", "0.0.0.0/1", "128.0.0.0/1", "52.0.0.0/8", "VirtualNetwork", "asg:a", "AzureCloud", "not_understood"}
	someTargets = []string{"*", "VirtualNetwork", "10.0.0.0/16", "10.0.1.0/24", "asg:web", "asg:db"}
	somePorts   = []string{"*", "22", "20-30", "0-21", "23-65535", "80,443,22", "70000"}
	someFrom    = []string{"", " from=1-1023", " from=*"} // source ports
)

// drawRule draws a rule. It draws the access too if that is empty.
func drawRule(t *rapid.T, priority int, access string) string {
	if access == "" {
		access = rapid.SampledFrom([]string{"Allow", "Deny"}).Draw(t, "access")
	}
	return fmt.Sprintf("%d %s %s %s > %s %s%s", priority, access, rapid.SampledFrom([]string{"Tcp", "Udp", "*"}).Draw(t, "protocol"),
		rapid.SampledFrom(someSources).Draw(t, "source"), rapid.SampledFrom(someTargets).Draw(t, "target"),
		rapid.SampledFrom(somePorts).Draw(t, "ports"), rapid.SampledFrom(someFrom).Draw(t, "from"))
}

func drawRules(t *rapid.T) (rules []string) {
	for i := range rapid.IntRange(0, 6).Draw(t, "rules") {
		rules = append(rules, drawRule(t, 100+10*i, ""))
	}
	return rules
}

// worse reports whether a is closer to yes than b.
func worse(a, b predicate.Answer) bool {
	order := []predicate.Truth{predicate.No, predicate.Unknown, predicate.Yes}
	return slices.Index(order, a.Truth) > slices.Index(order, b.Truth)
}

func TestDenyNeverOpensPort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(t)
		before := azure.Reaches("tcp", 22, securityGroup(rules))
		// The priority of the new rule is before, between or after those of the others.
		deny := drawRule(t, 105+10*rapid.IntRange(-1, 6).Draw(t, "at"), "Deny")
		if after := azure.Reaches("tcp", 22, securityGroup(append(slices.Clone(rules), deny))); worse(after, before) {
			t.Fatalf("%v became %v by %s\n%s", before, after, deny, strings.Join(rules, "\n"))
		}
	})
}

func TestAllowNeverClosesPort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := drawRules(t)
		before := azure.Reaches("tcp", 22, securityGroup(rules))
		// The priority of the new rule is before, between or after those of the others.
		allow := drawRule(t, 105+10*rapid.IntRange(-1, 6).Draw(t, "at"), "Allow")
		if after := azure.Reaches("tcp", 22, securityGroup(append(slices.Clone(rules), allow))); worse(before, after) {
			t.Fatalf("%v became %v by %s\n%s", before, after, allow, strings.Join(rules, "\n"))
		}
		wider := slices.Clone(rules)
		for i, r := range wider {
			if strings.Contains(r, "Allow") {
				f := strings.Fields(r)
				f[3] = "*" // the source
				wider[i] = strings.Join(f, " ")
			}
		}
		if after := azure.Reaches("tcp", 22, securityGroup(wider)); worse(before, after) {
			t.Fatalf("%v became %v by sources of *\n%s", before, after, strings.Join(rules, "\n"))
		}
	})
}

func TestFurtherGroupNeverOpensPort(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, two := securityGroup(drawRules(t)), securityGroup(drawRules(t))
		both := azure.Reaches("tcp", 22, one, two)
		if worse(both, azure.Reaches("tcp", 22, one)) || worse(both, azure.Reaches("tcp", 22, two)) {
			t.Fatalf("both groups together are open although one is not: %s %s", one, two)
		}
		if swapped := azure.Reaches("tcp", 22, two, one); swapped.Truth != both.Truth {
			t.Fatalf("%v in one order, %v in the other", both, swapped)
		}
	})
}

// TestReachesMatchesPacketSimulation compares the predicate with a simulation of
// single packets, for rules that are fully supported and apply to every
// destination.
func TestReachesMatchesPacketSimulation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rules []string
		for i := range rapid.IntRange(0, 6).Draw(t, "rules") {
			first := rapid.IntRange(0, 40).Draw(t, "from") // destination port
			rules = append(rules, fmt.Sprintf("%d %s %s %s > * %d-%d", 100+i, rapid.SampledFrom([]string{"Allow", "Deny"}).Draw(t, "access"),
				rapid.SampledFrom([]string{"Tcp", "Udp", "*"}).Draw(t, "protocol"), rapid.SampledFrom([]string{"*", "0.0.0.0/1", "128.0.0.0/1", "::/0"}).Draw(t, "source"),
				first, first+rapid.IntRange(0, 20).Draw(t, "length")))
		}
		port := rapid.IntRange(0, 65).Draw(t, "port")
		want := false
		// Every source in the rules is one of these ranges or all of them, so the first rule that
		// matches a packet is the same for all senders of a range.
		for _, senders := range []string{"0.0.0.0/1", "128.0.0.0/1", "::/0"} {
			for _, rule := range rules {
				f := strings.Fields(rule)
				var low, high int
				if _, err := fmt.Sscanf(f[6], "%d-%d", &low, &high); err != nil {
					t.Fatal(err)
				}
				if f[2] != "Udp" && (f[3] == "*" || f[3] == senders) && low <= port && port <= high {
					want = want || f[1] == "Allow"
					break
				}
			}
		}
		if got := azure.Reaches("tcp", port, securityGroup(rules)); (got.Truth == predicate.Yes) != want || got.Truth == predicate.Unknown {
			t.Fatalf("port %d: %v, want %v\n%s", port, got, want, strings.Join(rules, "\n"))
		}
	})
}

// TestMFAIsMonotonic removes and weakens policies of the corpus. No answer may get closer to
// yes, and groups that could not be read may only make it unknown.
func TestMFAIsMonotonic(t *testing.T) {
	t.Parallel()
	corpus := predicatetest.Read[mfa](t, "testdata/mfa.yaml")
	for _, e := range corpus {
		complete := e.Input.ask(t)
		for i := range e.Input.Policies {
			reduced := e.Input
			reduced.Policies = slices.Delete(slices.Clone(reduced.Policies), i, i+1)
			if after := reduced.ask(t); worse(after, complete) {
				t.Errorf("%s: %v became %v without policy %d", e.Name, complete, after, i)
			}
			for path, value := range map[string]any{
				"state": "enabledForReportingButNotEnforced", "conditions.users.excludeUsers": []any{"a", "b", "c", "d"}, "conditions.signInRiskLevels": []any{"high"},
				"conditions.applications.excludeApplications": []any{"x"}, "conditions.users.excludeRoles": []any{"unheard-of"},
			} {
				changed := map[string]any{}
				for k, v := range e.Input.Policies[i] {
					changed[k] = v
				}
				changed[path] = value
				reduced.Policies = slices.Clone(e.Input.Policies)
				reduced.Policies[i] = changed
				if after := reduced.ask(t); worse(after, complete) {
					t.Errorf("%s: %v became %v when %s of policy %d was set to %v", e.Name, complete, after, path, i, value)
				}
			}
		}
		unread := e.Input
		unread.Members = nil
		if after := unread.ask(t); after.Truth != complete.Truth && after.Truth != predicate.Unknown {
			t.Errorf("%s: %v became %v when groups were refused", e.Name, complete, after)
		}
	}
}

// TestPrivilegedWithUnreadInput hides groups and roles of the corpus, which may only make an
// answer unknown, and removes assignments, which must not bring it closer to yes.
func TestPrivilegedWithUnreadInput(t *testing.T) {
	t.Parallel()
	for _, e := range predicatetest.Read[privileged](t, "testdata/privileged.yaml") {
		complete := e.Input.ask()
		unread := e.Input
		unread.Unread = "groups"
		if after := unread.ask(); after.Truth == predicate.No || complete.Truth == predicate.Yes && after.Truth != predicate.Yes {
			t.Errorf("%s: %v became %v when groups were refused", e.Name, complete, after)
		}
		for i := range e.Input.Assignments {
			unreadable := e.Input
			unreadable.Assignments = slices.Clone(unreadable.Assignments)
			unreadable.Assignments[i].Role = nil
			if after := unreadable.ask(); after.Truth != complete.Truth && after.Truth != predicate.Unknown {
				t.Errorf("%s: %v became %v when role %d was refused", e.Name, complete, after, i)
			}
			reduced := e.Input
			reduced.Assignments = slices.Delete(slices.Clone(reduced.Assignments), i, i+1)
			if after := reduced.ask(); worse(after, complete) {
				t.Errorf("%s: %v became %v without assignment %d", e.Name, complete, after, i)
			}
		}
	}
}

func TestDisabledPublicEndpointIsClosed(t *testing.T) {
	t.Parallel()
	for _, e := range predicatetest.Read[public](t, "testdata/public.yaml") {
		closed := map[string]any{}
		for k, v := range e.Input.Properties {
			closed[k] = v
		}
		closed["publicNetworkAccess"] = "Disabled"
		for _, answer := range []predicate.Answer{
			azure.OpenToNetworks(raw(closed)), azure.OpenCosmos(raw(closed)), azure.OpenUnlessLimited(raw(closed)),
		} {
			if answer.Truth != predicate.No {
				t.Errorf("%s: %v with the public endpoint off", e.Name, answer)
			}
		}
	}
}
