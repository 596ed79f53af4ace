package aws

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/predicatetest"
)

type policyEntry struct {
	Policy string `yaml:"policy"`
}

// ask parses a policy and applies a predicate. The answer for an unreadable policy is unknown.
func ask(text string, question func(Policy) predicate.Answer) predicate.Answer {
	p, _, err := Parse(text)
	if err != nil {
		return predicate.NotKnown(err.Error())
	}
	return question(p)
}

func TestPublicCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/public.yaml", func(e policyEntry) predicate.Answer { return ask(e.Policy, Policy.Public) })
}

type identityEntry struct {
	ARN      string   `yaml:"arn"`
	Policies []string `yaml:"policies"`
	Boundary *string  `yaml:"boundary"`
}

// identity parses the policies of an entry.
func (e identityEntry) identity() (i Identity) {
	i.ARN = e.ARN
	for _, text := range e.Policies {
		p, _, err := Parse(text)
		if err != nil {
			i.Unread = err.Error()
		}
		i.Policies = append(i.Policies, p)
	}
	if e.Boundary != nil {
		p, _, err := Parse(*e.Boundary)
		if err != nil {
			i.Unread = err.Error()
		}
		i.Boundary = &p
	}
	return i
}

func TestAdminCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/admin.yaml", func(e identityEntry) predicate.Answer { return e.identity().Admin() })
}

func TestPrivilegedCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/privileged.yaml", func(e identityEntry) predicate.Answer { return e.identity().Privileged() })
}

func TestReachesCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Firewall `yaml:",inline"`
		Protocol string `yaml:"protocol"`
		Port     int64  `yaml:"port"`
		Version  int    `yaml:"version"`
	}
	predicatetest.Corpus(t, "testdata/reaches.yaml", func(e entry) predicate.Answer {
		answer := e.Reaches(e.Protocol, e.Port, e.Version)
		// Openings must agree with Reaches about the port, and be certain if all rules can be read.
		unreadable := slices.ContainsFunc(e.Rules, func(r Rule) bool { _, reason := e.peers(r); return reason != "" })
		_, unread := e.Openings()
		if answer.Truth == predicate.Unknown && unread == "" {
			t.Errorf("the openings of %+v are certain, but its answer is %v", e, answer)
		}
		if unread != "" && !unreadable {
			t.Errorf("the openings of %+v are uncertain (%s), but all rules can be read", e, unread)
		}
		if got := openAt(e.Firewall, e.Protocol, e.Port, e.Version); got != (answer.Truth == predicate.Yes) {
			t.Errorf("the openings of %+v contradict %v", e, answer)
		}
		return answer
	})
}

// openAt reports whether a port is within the openings of a firewall.
func openAt(f Firewall, protocol string, port int64, version int) bool {
	open, _ := f.Openings()
	for _, o := range open {
		if o.Protocol == protocol && o.Version == version && o.From <= port && port <= o.To {
			return true
		}
	}
	return false
}

func TestNetworkACLCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Entries []Entry `yaml:"entries"`
		Port    int64   `yaml:"port"`
	}
	predicatetest.Examples(t, "testdata/acl.yaml", func(e entry) predicate.Answer { return Admits(e.Entries, TCP, e.Port) })
}

func TestTLSOnlyCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Examples(t, "testdata/tls-only.yaml", func(e policyEntry) predicate.Answer {
		return ask(e.Policy, func(p Policy) predicate.Answer { return p.TLSOnly("files") })
	})
}

// TestRestrictedTrustCorpus asks whether a policy restricts the trust in account 210987654321.
func TestRestrictedTrustCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Examples(t, "testdata/restricted.yaml", func(e policyEntry) predicate.Answer {
		return ask(e.Policy, func(p Policy) predicate.Answer {
			for _, trust := range p.Trusts() {
				if trust.Principal == "AWS:arn:aws:iam::210987654321:root" {
					return predicate.Answer{Truth: trust.Restricted}
				}
			}
			return predicate.Answer{}
		})
	})
}

// TestDetectsCorpus matches filter patterns against one event.
func TestDetectsCorpus(t *testing.T) {
	t.Parallel()
	event := gjson.Parse(`{"eventName":"DeleteTrail","eventSource":"cloudtrail.amazonaws.com","errorCode":"Client.UnauthorizedOperation","count":3,
		"readOnly":false,"managementEvent":true,"nothing":null,"userIdentity":{"type":"Root"}}`)
	type entry struct {
		Pattern string `yaml:"pattern"`
	}
	predicatetest.Corpus(t, "testdata/detects.yaml", func(e entry) predicate.Answer {
		p, err := ParseFilterPattern(e.Pattern)
		if err != nil {
			return predicate.NotKnown(err.Error())
		}
		return p.Matches(event)
	})
}

// TestTrustCorpus compares the principals that trust policies trust, in the form "principal
// restricted: truth", and those that their Allow statements name.
func TestTrustCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Policy  string   `yaml:"policy"`
		Trusts  []string `yaml:"trusts"`
		Allowed []string `yaml:"allowed"`
	}
	for _, e := range predicatetest.Read[entry](t, "testdata/trusts.yaml") {
		p, _, err := Parse(e.Input.Policy)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		var trusts []string
		for _, trust := range p.Trusts() {
			trusts = append(trusts, trust.Principal+" restricted: "+trust.Restricted.String())
		}
		if !slices.Equal(trusts, e.Input.Trusts) {
			t.Errorf("%s: it trusts %q, want %q", e.Name, trusts, e.Input.Trusts)
		}
		if allowed := p.Allowed(); !slices.Equal(allowed, e.Input.Allowed) {
			t.Errorf("%s: it allows %q, want %q", e.Name, allowed, e.Input.Allowed)
		}
	}
}

func TestDecryptsAllCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Examples(t, "testdata/decrypts.yaml", func(e identityEntry) predicate.Answer { return e.identity().DecryptsAll() })
}

func TestWholeServicesCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Policy   string   `yaml:"policy"`
		Services []string `yaml:"services"`
	}
	for _, e := range predicatetest.Read[entry](t, "testdata/services.yaml") {
		p, _, err := Parse(e.Input.Policy)
		if got := p.WholeServices(); err != nil || !slices.Equal(got, e.Input.Services) {
			t.Errorf("%s: %q (%v), want %q", e.Name, got, err, e.Input.Services)
		}
	}
}

// TestWideFederationsCorpus expects the kinds of issuers in brackets as the reason.
func TestWideFederationsCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Corpus(t, "testdata/federations.yaml", func(e policyEntry) predicate.Answer {
		return ask(e.Policy, func(p Policy) predicate.Answer {
			kinds, known := p.WideFederations()
			if !known {
				return predicate.NotKnown("")
			}
			return predicate.Answer{Truth: predicate.Of(len(kinds) > 0, "").Truth, Why: fmt.Sprint(kinds)}
		})
	})
}

// TestOthersCorpus asks whether accounts other than 123456789012 may change the access to the bucket logs.
func TestOthersCorpus(t *testing.T) {
	t.Parallel()
	predicatetest.Examples(t, "testdata/others.yaml", func(e policyEntry) predicate.Answer {
		return ask(e.Policy, func(p Policy) predicate.Answer {
			return p.Others("123456789012", "logs", []string{"s3:putbucketpolicy", "s3:putobjectacl"})
		})
	})
}
