package azure_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/azure"
	"vigil/internal/posture/predicate/predicatetest"
)

// raw converts a value to a JSON response.
func raw(v any) gjson.Result {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return gjson.ParseBytes(text)
}

// securityGroup returns a network security group with inbound rules such as "100
// Allow Tcp Internet > * 22". Lists are separated by commas, application
// security groups are written asg:name, and an underscore stands for a space. The word
// from=1024-2000 gives source ports, the word outbound makes it an outbound rule.
func securityGroup(rules []string) gjson.Result {
	all := []any{}
	for _, line := range rules {
		p := map[string]any{"direction": "Inbound", "sourcePortRange": "*"}
		var f []string
		for _, word := range strings.Fields(line) {
			switch {
			case strings.HasPrefix(word, "from="):
				p["sourcePortRange"] = word[5:]
			case word == "outbound":
				p["direction"] = "Outbound"
			default:
				f = append(f, word)
			}
		}
		if len(f) != 7 || f[4] != ">" {
			panic("not a rule: " + line)
		}
		p["priority"], _ = strconv.Atoi(f[0])
		p["access"], p["protocol"] = f[1], f[2]
		setAddresses := func(side, list string) {
			var addresses []string
			var groups []any
			for _, address := range strings.Split(list, ",") {
				if name, ok := strings.CutPrefix(address, "asg:"); ok {
					groups = append(groups, map[string]any{"id": "/subscriptions/s/applicationSecurityGroups/" + name})
					continue
				}
				addresses = append(addresses, strings.ReplaceAll(address, "_", " "))
			}
			if groups != nil {
				p[side+"ApplicationSecurityGroups"] = groups
			}
			switch len(addresses) {
			case 0:
			case 1:
				p[side+"AddressPrefix"] = addresses[0]
			default:
				p[side+"AddressPrefixes"] = addresses
			}
		}
		setAddresses("source", f[3])
		setAddresses("destination", f[5])
		if ports := strings.Split(f[6], ","); len(ports) > 1 {
			p["destinationPortRanges"] = ports
		} else {
			p["destinationPortRange"] = f[6]
		}
		all = append(all, map[string]any{"properties": p})
	}
	return raw(map[string]any{"properties": map[string]any{"securityRules": all}})
}

type reaches struct {
	Port   string   `yaml:"port"` // protocol and port; "tcp 22" when empty
	Subnet []string `yaml:"subnet"`
	NIC    []string `yaml:"nic"`
}

func TestReachesCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/reaches.yaml", func(in reaches) predicate.Answer {
		var groups []gjson.Result
		for _, rules := range [][]string{in.Subnet, in.NIC} {
			if rules != nil {
				groups = append(groups, securityGroup(rules))
			}
		}
		protocol, port := "tcp", 22
		if in.Port != "" {
			if _, err := fmt.Sscanf(in.Port, "%s %d", &protocol, &port); err != nil {
				t.Fatal(err)
			}
		}
		return azure.Reaches(protocol, port, groups...)
	})
}

type public struct {
	Kind       string         `yaml:"kind"` // of resource: it selects the predicate
	Properties map[string]any `yaml:"properties"`
	Rules      []any          `yaml:"rules"` // nil when they could not be read
}

func TestPublicCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/public.yaml", func(in public) predicate.Answer {
		rules := gjson.Result{}
		if in.Rules != nil {
			rules = raw(in.Rules)
		}
		switch p := raw(in.Properties); in.Kind {
		case "networks":
			return azure.OpenToNetworks(p)
		case "rules":
			return azure.OpenRules(rules)
		case "cosmos":
			return azure.OpenCosmos(p)
		case "listed":
			return azure.OpenUnlessLimited(p)
		}
		t.Errorf("unknown kind %q", in.Kind)
		return predicate.Answer{}
	})
}

// policy returns a conditional access policy that requires a second factor of
// everybody. changes replaces some of its members, given by their paths.
func policy(t *testing.T, changes map[string]any) gjson.Result {
	t.Helper()
	base := map[string]any{
		"displayName": "everybody", "state": "enabled",
		"conditions": map[string]any{
			"users":          map[string]any{"includeUsers": []any{"All"}, "excludeUsers": []any{}, "excludeGroups": []any{}, "excludeRoles": []any{}},
			"applications":   map[string]any{"includeApplications": []any{"All"}, "excludeApplications": []any{}},
			"clientAppTypes": []any{"all"}, "signInRiskLevels": []any{}, "userRiskLevels": []any{}, "platforms": nil, "locations": nil, "devices": nil,
		},
		"grantControls": map[string]any{"operator": "OR", "builtInControls": []any{"mfa"}, "customAuthenticationFactors": []any{}, "termsOfUse": []any{}, "authenticationStrength": nil},
	}
	for path, value := range changes {
		parent := base
		words := strings.Split(path, ".")
		for _, word := range words[:len(words)-1] {
			next, ok := parent[word].(map[string]any)
			if !ok {
				next = map[string]any{}
				parent[word] = next
			}
			parent = next
		}
		parent[words[len(words)-1]] = value
	}
	return raw(base)
}

type mfa struct {
	Policies []map[string]any `yaml:"policies"`
	Members  map[string]int   `yaml:"members"` // number of members by group; a group that could not be read is missing
}

func (in mfa) ask(t *testing.T) predicate.Answer {
	t.Helper()
	all := []string{}
	for _, changes := range in.Policies {
		all = append(all, policy(t, changes).Raw)
	}
	return azure.MFAForAll(gjson.Parse("["+strings.Join(all, ",")+"]"), func(group string) (int, bool) {
		count, known := in.Members[group]
		return count, known
	})
}

func TestMFAForAllCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/mfa.yaml", func(in mfa) predicate.Answer { return in.ask(t) })
}

func TestEverySignInCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Changes map[string]any `yaml:"changes"`
	}
	predicatetest.Examples(t, "testdata/sign-ins.yaml", func(in entry) predicate.Answer { return azure.EverySignIn(policy(t, in.Changes)) })
}

type privileged struct {
	Assignments []struct {
		Scope     string `yaml:"scope"` // the subscription when empty
		Condition string `yaml:"condition"`
		Role      []role `yaml:"role"` // its permissions; nil when the definition was not read
	} `yaml:"assignments"`
	Unread string `yaml:"unread"` // what could not be read; empty when everything was
}

type role struct {
	Actions     []string `yaml:"actions" json:"actions"`
	NotActions  []string `yaml:"not" json:"notActions"`
	DataActions []string `yaml:"data" json:"dataActions"`
}

func (in privileged) ask() predicate.Answer {
	var all []azure.Assignment
	for _, a := range in.Assignments {
		assignment := azure.Assignment{Scope: a.Scope, Condition: a.Condition}
		if assignment.Scope == "" {
			assignment.Scope = "/subscriptions/s"
		}
		if a.Role != nil {
			assignment.Definition = raw(map[string]any{"permissions": a.Role})
		}
		all = append(all, assignment)
	}
	return azure.Privileged(all, in.Unread)
}

func TestPrivilegedCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/privileged.yaml", func(in privileged) predicate.Answer { return in.ask() })
}

func TestAdminCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Permissions []role `yaml:"permissions"`
		Definition  any    `yaml:"definition"` // the definition as it is, instead of permissions; null when it was not read
	}
	predicatetest.Corpus(t, "testdata/admin.yaml", func(in entry) predicate.Answer {
		if in.Permissions == nil {
			return azure.Admin(raw(in.Definition))
		}
		return azure.Admin(raw(map[string]any{"permissions": in.Permissions}))
	})
}

func TestTakeoversCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Role  []role   `yaml:"role"`
		Kinds []string `yaml:"kinds"`
	}
	for _, e := range predicatetest.Read[entry](t, "testdata/takeovers.yaml") {
		if got := azure.Takeovers(raw(map[string]any{"permissions": e.Input.Role})); !slices.Equal(got, e.Input.Kinds) {
			t.Errorf("%s: got %q, want %q", e.Name, got, e.Input.Kinds)
		}
	}
}
