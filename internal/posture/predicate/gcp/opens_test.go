package gcp_test

import (
	"net/netip"
	"strings"
	"testing"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/gcp"
	"vigil/internal/posture/predicate/predicatetest"
)

type opens struct {
	firewall `yaml:",inline"`
	Ask      string    `yaml:"ask"`     // any, all, or empty for the port of firewall
	Machine  *[]string `yaml:"machine"` // network tags, service accounts (with an @) and addresses
}

func (in opens) ask() predicate.Answer {
	n := in.network()
	if in.Machine != nil {
		var m gcp.Machine
		for _, s := range *in.Machine {
			switch _, err := netip.ParseAddr(s); {
			case err == nil:
				m.Addresses = append(m.Addresses, s)
			case strings.Contains(s, "@"):
				m.Accounts = append(m.Accounts, s)
			default:
				m.Tags = append(m.Tags, s)
			}
		}
		return gcp.ReachesAny(n.OnMachine(m))
	}
	switch in.Ask {
	case "any":
		return gcp.OpensAny(n, "rule-0")
	case "all":
		return gcp.OpensAll(n, "rule-0")
	}
	protocol, port := in.port()
	return gcp.Opens(n, "rule-0", protocol, port)
}

func TestOpensCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/opens.yaml", opens.ask)
}

// TestDenyNeverOpensRule changes every entry in two ways, one at a time: it adds a deny
// rule with precedence, and makes the folders unread.
func TestDenyNeverOpensRule(t *testing.T) {
	t.Parallel()
	for _, e := range predicatetest.Read[opens](t, "testdata/opens.yaml") {
		complete := e.Input.ask()
		denied := e.Input
		denied.Org = append([]string{"0 deny all 0.0.0.0/0"}, denied.Org...)
		if after := denied.ask(); worse(after, complete) {
			t.Errorf("%s: %v became %v with another deny", e.Name, complete, after)
		}
		unread := e.Input
		unread.Unread = "folders"
		if after := unread.ask(); after.Truth == predicate.Yes || after.Truth == predicate.No && complete.Truth != predicate.No {
			t.Errorf("%s: %v became %v although folders were not read", e.Name, complete, after)
		}
	}
}
