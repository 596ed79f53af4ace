package derive

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

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
