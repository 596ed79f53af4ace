package azure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// group returns a security group with rules such as "100 Inbound Allow Tcp * 22".
func group(rules ...string) gjson.Result {
	var all []map[string]any
	for _, rule := range rules {
		f := strings.Fields(rule)
		all = append(all, map[string]any{"properties": map[string]any{
			"priority": json.Number(f[0]), "direction": f[1], "access": f[2], "protocol": f[3], "sourceAddressPrefix": f[4],
			"destinationPortRange": f[5], "destinationAddressPrefix": "*",
		}})
	}
	text, err := json.Marshal(map[string]any{"properties": map[string]any{"securityRules": all}})
	if err != nil {
		panic(err)
	}
	return gjson.ParseBytes(text)
}

func TestPortsThatTheInternetReaches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		rules []string
		want  string
	}{
		{"nothing", nil, ""},
		{"one port", []string{"100 Inbound Allow Tcp * 22"}, "22"},
		{"any protocol", []string{"100 Inbound Allow * Internet 22"}, "22"},
		{"another protocol", []string{"100 Inbound Allow Udp * 22"}, ""},
		{"a private source", []string{"100 Inbound Allow Tcp 10.0.0.0/8 22"}, ""},
		{"a service tag", []string{"100 Inbound Allow Tcp VirtualNetwork *"}, ""},
		{"outbound", []string{"100 Outbound Allow Tcp * 22"}, ""},
		{"denied before", []string{"100 Inbound Deny * * 22", "200 Inbound Allow Tcp * 20-30"}, "20-21,23-30"},
		{"denied later", []string{"100 Inbound Allow Tcp * 22", "200 Inbound Deny * * *"}, "22"},
		{"denied to some", []string{"100 Inbound Deny * 203.0.113.0/24 *", "200 Inbound Allow Tcp * 22"}, "22"},
		{"order of the list does not count", []string{"300 Inbound Allow Tcp * *", "100 Inbound Deny Tcp * 0-1023"}, "1024-65535"},
		{"neighbours are one", []string{"100 Inbound Allow Tcp * 80", "110 Inbound Allow Tcp 0.0.0.0/0 81-90", "120 Inbound Allow Tcp any 443"}, "80-90,443"},
		{"all of version 6", []string{"100 Inbound Allow Tcp ::/0 22"}, "22"},
		{"not ports", []string{"100 Inbound Allow Tcp * 70000", "110 Inbound Allow Tcp * 9-2"}, ""},
	} {
		if got := strings.Join(openPorts(group(c.rules...), "tcp"), ","); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPortsAgreeWithTheFirstRuleThatMatches compares ranges with a look at every
// port.
func TestPortsAgreeWithTheFirstRuleThatMatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(t, "rules")
		var rules []string
		for i := range n {
			from := rapid.IntRange(0, 40).Draw(t, "from")
			rules = append(rules, fmt.Sprintf("%d Inbound %s %s %s %d-%d", 100+i,
				rapid.SampledFrom([]string{"Allow", "Deny"}).Draw(t, "access"), rapid.SampledFrom([]string{"Tcp", "Udp", "*"}).Draw(t, "protocol"),
				rapid.SampledFrom([]string{"*", "Internet", "10.0.0.0/8"}).Draw(t, "source"), from, from+rapid.IntRange(0, 20).Draw(t, "length")))
		}
		open := fromInternet(group(rules...), "tcp")
		for port := int64(0); port < 70; port++ {
			want := false
			for _, rule := range rules {
				f := strings.Fields(rule)
				var a, b int64
				fmt.Sscanf(f[5], "%d-%d", &a, &b)
				if f[3] != "Udp" && f[4] != "10.0.0.0/8" && a <= port && port <= b {
					want = f[2] == "Allow"
					break
				}
			}
			got := slices.ContainsFunc(open, func(s span) bool { return s.from <= port && port <= s.to })
			if got != want {
				t.Fatalf("port %d: %v, want %v\n%s", port, got, want, strings.Join(rules, "\n"))
			}
		}
	})
}

func TestIDsAreTakenApart(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"/subscriptions/S":                  "microsoft.resources/subscriptions global s",
		"/subscriptions/S/resourceGroups/G": "microsoft.resources/subscriptions/resourcegroups global g",
		"/subscriptions/S/locations/eastus": "microsoft.resources/subscriptions/locations global eastus",
		"/SUBSCRIPTIONS/s/RESOURCEGROUPS/G/PROVIDERS/Microsoft.Sql/SERVERS/A/databases/B":               "microsoft.sql/servers/databases g a/b",
		"subscriptions/s/providers/Microsoft.Security/pricings/Arm":                                     "microsoft.security/pricings global arm",
		"/subscriptions/s/resourceGroups/g/providers/N.A/t/x/providers/Microsoft.Authorization/locks/l": "microsoft.authorization/locks g x/l",
		"/providers/Microsoft.Authorization/roleDefinitions/R":                                          "microsoft.authorization/roledefinitions global r",
		"":                                    "",
		"/":                                   "",
		"/subscriptions":                      "",
		"/subscriptions/s/odd":                "",
		"/subscriptions/s/providers/N":        "",
		"/subscriptions/s/providers/N/t":      "",
		"/subscriptions//resourceGroups/g":    "",
		"/elsewhere/x":                        "",
		"https://vault.azure.net/keys/k/v":    "",
		"/subscriptions/s/virtualMachines/vm": "",
	} {
		got := ""
		if a, ok := parseID(id); ok {
			got = a.kind() + " " + a.place() + " " + a.name()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", id, diff)
		}
	}
}

// FuzzIDs makes sure that no id an event may name does harm.
func FuzzIDs(f *testing.F) {
	f.Add("/subscriptions/s/resourceGroups/g/providers/Microsoft.Sql/servers/a/firewallRules/r")
	f.Add("/subscriptions/s/providers/microsoft.insights/diagnosticSettings/d")
	f.Add("//subscriptions/..//%2f")
	f.Fuzz(func(t *testing.T, id string) {
		for _, k := range kinds {
			own, ok := within(id, k.arm)
			if ok && !strings.HasPrefix("/"+strings.Trim(id, "/"), own) {
				t.Errorf("%q is within %q", id, own)
			}
			if a, parsed := parseID(own); ok && (!parsed || !strings.EqualFold(a.kind(), k.arm) || a.name() == "") {
				t.Errorf("%q is taken for a %s", own, k.arm)
			}
		}
	})
}

func TestDeepAnswersAreRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for text, want := range map[string]bool{
		`{"a":[1,{"b":"]]]]"}]}`: true, deep: false, strings.Repeat("{", 1<<20): false, `"` + strings.Repeat("[", 1000) + `\""`: true,
		strings.Repeat("[]", 1000): true, "": true,
	} {
		if got := shallow([]byte(text)); got != want {
			t.Errorf("%.30s: %v", text, got)
		}
	}
}
