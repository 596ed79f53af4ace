package gcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/predicate/predicatetest"
)

func raw(v any) gjson.Result {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return gjson.ParseBytes(text)
}

// firewall is an entry of the corpus: a network with lists of rules, each in the form that line describes.
type firewall struct {
	Port   string   `yaml:"port"` // "tcp 22" when empty
	Org    []string `yaml:"org"`
	Folder []string `yaml:"folder"`
	Policy []string `yaml:"policy"`
	Region []string `yaml:"region"`
	VPC    []string `yaml:"vpc"`
	Before bool     `yaml:"before"`
	Unread string   `yaml:"unread"`
}

// line is a parsed rule of the corpus: priority, action, protocols with ports, and
// sources (- for none), then attributes: "1000 allow tcp:22,80;udp 0.0.0.0/0,::/0 target=web".
type line struct {
	priority       int
	action         string
	protocols      []string
	sources        []string
	target, srctag string
	targetsa       string
	srcsa, network string
	match          map[string]any // further members of the match of a policy's rule
	disabled       bool
	egress         bool
}

// matchMembers maps attributes of a rule to the members of a policy rule's match that they set.
var matchMembers = map[string]string{
	"countries": "srcRegionCodes", "groups": "srcAddressGroups", "fqdns": "srcFqdns", "threats": "srcThreatIntelligences",
	"srctags": "srcSecureTags", "context": "srcNetworkContext", "type": "srcNetworkType",
}

func parse(text string) (l line) {
	f := strings.Fields(text)
	l.match = map[string]any{}
	l.priority, _ = strconv.Atoi(f[0])
	l.action, l.protocols = f[1], strings.Split(f[2], ";")
	if f[3] != "-" {
		l.sources = strings.Split(f[3], ",")
	}
	for _, word := range f[4:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "target":
			l.target = value
		case "targetsa":
			l.targetsa = value
		case "srctag":
			l.srctag = value
		case "srcsa":
			l.srcsa = value
		case "disabled":
			l.disabled = true
		case "egress":
			l.egress = true
		case "network":
			l.network = value
		case "countries", "groups", "fqdns", "threats", "srctags":
			list := []string{"x"} // the predicate only checks whether the list is empty
			if value == "none" {
				list = []string{}
			}
			l.match[matchMembers[key]] = list
		case "context", "type":
			l.match[matchMembers[key]] = value
		default:
			panic("not a rule: " + text)
		}
	}
	return l
}

func direction(egress bool) string {
	if egress {
		return "EGRESS"
	}
	return "INGRESS"
}

// vpc returns the rule in the form of VPC firewall rules, with a number as its name.
func (l line) vpc(number int) gjson.Result {
	var list []any
	for _, p := range l.protocols {
		name, ports, _ := strings.Cut(p, ":")
		entry := map[string]any{"IPProtocol": name}
		if ports != "" {
			entry["ports"] = strings.Split(ports, ",")
		}
		list = append(list, entry)
	}
	protocols := map[string]string{"allow": "allowed", "deny": "denied"}[l.action] // the member with the protocols
	r := map[string]any{"name": fmt.Sprintf("rule-%d", number), "priority": l.priority, "direction": direction(l.egress), "disabled": l.disabled, protocols: list}
	if l.sources != nil {
		r["sourceRanges"] = l.sources
	}
	for name, value := range map[string]string{"targetTags": l.target, "targetServiceAccounts": l.targetsa, "sourceTags": l.srctag, "sourceServiceAccounts": l.srcsa} {
		if value != "" {
			r[name] = strings.Split(value, ",")
		}
	}
	return raw(r)
}

// policy returns rules in the form of firewall policies.
func policy(lines []string) gjson.Result {
	var all []any
	for _, text := range lines {
		l := parse(text)
		var list []any
		for _, p := range l.protocols {
			name, ports, _ := strings.Cut(p, ":")
			entry := map[string]any{"ipProtocol": name}
			if ports != "" {
				entry["ports"] = strings.Split(ports, ",")
			}
			list = append(list, entry)
		}
		m := map[string]any{"layer4Configs": list}
		if l.sources != nil {
			m["srcIpRanges"] = l.sources
		}
		maps.Copy(m, l.match)
		r := map[string]any{"priority": l.priority, "action": l.action, "direction": direction(l.egress), "disabled": l.disabled, "match": m}
		if l.target != "" {
			r["targetSecureTags"] = []any{map[string]any{"name": l.target}}
		}
		if l.network != "" {
			r["targetResources"] = []string{"https://www.googleapis.com/compute/v1/projects/p/global/networks/" + l.network}
		}
		if l.targetsa != "" {
			r["targetServiceAccounts"] = []string{l.targetsa}
		}
		all = append(all, r)
	}
	return raw(map[string]any{"rules": all})
}

func (in firewall) network() gcp.Network {
	n := gcp.Network{Before: in.Before, Unread: in.Unread, Self: "projects/p/global/networks/main"}
	for _, rules := range [][]string{in.Org, in.Folder} {
		if rules != nil {
			n.Hierarchy = append(n.Hierarchy, policy(rules))
		}
	}
	for _, rules := range [][]string{in.Policy, in.Region} {
		if rules != nil {
			n.Policy = append(n.Policy, policy(rules))
		}
	}
	for i, text := range in.VPC {
		n.Rules = append(n.Rules, parse(text).vpc(i))
	}
	return n
}

func (in firewall) port() (string, int) {
	protocol, port := "tcp", 22
	if in.Port != "" {
		if _, err := fmt.Sscanf(in.Port, "%s %d", &protocol, &port); err != nil {
			panic(err)
		}
	}
	return protocol, port
}

func (in firewall) ask() predicate.Answer {
	protocol, port := in.port()
	return gcp.Reaches(in.network(), protocol, port)
}

func TestFirewallCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/firewall.yaml", firewall.ask)
}

type privileged struct {
	Policies [][]map[string]any  `yaml:"policies"` // bindings of the project and its ancestors
	Roles    map[string][]string `yaml:"roles"`    // roles that were read
	Deny     []string            `yaml:"deny"`     // principals of a deny policy
	Unread   string              `yaml:"unread"`
}

func (in privileged) ask() predicate.Answer {
	var policies, denies []gjson.Result
	for _, bindings := range in.Policies {
		policies = append(policies, raw(map[string]any{"bindings": bindings}))
	}
	if in.Deny != nil {
		denies = append(denies, denyPolicy(in.Deny))
	}
	return gcp.Privileged("serviceAccount:app@acme-prod.iam.gserviceaccount.com", policies, denies, func(name string) ([]string, bool) {
		permissions, known := in.Roles[name]
		return permissions, known
	}, in.Unread)
}

func TestPrivilegedCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/privileged.yaml", privileged.ask)
}

type public struct {
	Kind     string           `yaml:"kind"` // policy, function or bucket
	Ingress  string           `yaml:"ingress"`
	Policies []map[string]any `yaml:"policies"` // an element is null when the policy could not be read
	Deny     []string         `yaml:"deny"`     // principals of a deny policy

	Bucket    map[string]any `yaml:"bucket"`
	Prevented string         `yaml:"prevented"` // whether the organisation prevents public access: yes, no or unknown
}

func (in public) ask() predicate.Answer {
	var policies []gjson.Result
	for _, p := range in.Policies {
		if p == nil {
			policies = append(policies, gjson.Result{})
			continue
		}
		policies = append(policies, raw(p))
	}
	var denies []gjson.Result
	if in.Deny != nil {
		denies = append(denies, denyPolicy(in.Deny))
	}
	byPolicy := gcp.Public(denies, policies...)
	switch in.Kind {
	case "function":
		return gcp.Invocable(in.Ingress, byPolicy)
	case "bucket":
		return gcp.PublicBucket(raw(in.Bucket), byPolicy, predicate.Answer{Truth: truth(in.Prevented)})
	}
	return byPolicy
}

// denyPolicy returns a deny policy for some principals.
func denyPolicy(principals []string) gjson.Result {
	return raw(map[string]any{"rules": []any{map[string]any{"denyRule": map[string]any{
		"deniedPrincipals": principals, "deniedPermissions": []string{"cloudresourcemanager.googleapis.com/projects.setIamPolicy"},
	}}}})
}

// truth parses yes and no; everything else is unknown.
func truth(text string) predicate.Truth {
	return map[string]predicate.Truth{"yes": predicate.Yes, "no": predicate.No}[text]
}

func TestPublicCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/public.yaml", public.ask)
}

type admin struct {
	Role        string   `yaml:"role"`
	Permissions []string `yaml:"permissions"` // null when they could not be read
}

func (in admin) ask() predicate.Answer {
	return gcp.Controls(in.Role, func(string) ([]string, bool) { return in.Permissions, in.Permissions != nil })
}

func TestAdminCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/admin.yaml", admin.ask)
	if got := gcp.Controls("projects/p/roles/custom", nil); got.Truth != predicate.Unknown {
		t.Errorf("without a way to read roles: %v", got)
	}
}

func TestAuditCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Policies [][]map[string]any `yaml:"policies"` // auditConfigs of the project and its ancestors
		Unread   string             `yaml:"unread"`
	}
	predicatetest.Examples(t, "testdata/audit.yaml", func(in entry) predicate.Answer {
		var policies []gjson.Result
		for _, configs := range in.Policies {
			policies = append(policies, raw(map[string]any{"auditConfigs": configs}))
		}
		return gcp.AuditsAllServices(policies, in.Unread)
	})
}

// worse reports whether a is closer to a violation (yes) than b.
func worse(a, b predicate.Answer) bool {
	order := []predicate.Truth{predicate.No, predicate.Unknown, predicate.Yes}
	return slices.Index(order, a.Truth) > slices.Index(order, b.Truth)
}

// TestDenyNeverOpens changes every entry of two corpora, in one way at a time: it adds a
// deny, an allow rule with precedence (to firewalls only), or makes the folders unread.
func TestDenyNeverOpens(t *testing.T) {
	t.Parallel()
	for _, e := range predicatetest.Read[firewall](t, "testdata/firewall.yaml") {
		complete := e.Input.ask()
		denied := e.Input
		denied.VPC = append([]string{"0 deny all 0.0.0.0/0"}, denied.VPC...)
		if after := denied.ask(); worse(after, complete) {
			t.Errorf("%s: %v became %v with another deny", e.Name, complete, after)
		}
		opened := e.Input
		opened.Org = append([]string{"0 allow all 0.0.0.0/0"}, opened.Org...)
		if after := opened.ask(); worse(complete, after) {
			t.Errorf("%s: %v became %v with another allow", e.Name, complete, after)
		}
		unread := e.Input
		unread.Unread = "folders"
		if after := unread.ask(); after.Truth != predicate.Unknown {
			t.Errorf("%s: %v although folders were not read", e.Name, after)
		}
	}
	for _, e := range predicatetest.Read[privileged](t, "testdata/privileged.yaml") {
		complete := e.Input.ask()
		denied := e.Input
		denied.Deny = append(slices.Clone(denied.Deny), "principalSet://goog/public:all")
		if after := denied.ask(); worse(after, complete) {
			t.Errorf("%s: %v became %v with a deny policy", e.Name, complete, after)
		}
		unread := e.Input
		unread.Unread = "folders"
		if after := unread.ask(); after.Truth == predicate.No || complete.Truth == predicate.Yes && after.Truth != predicate.Yes {
			t.Errorf("%s: %v became %v when folders were not read", e.Name, complete, after)
		}
	}
}
