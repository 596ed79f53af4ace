package aws

import (
	"slices"
	"testing"

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
	Policies []string `yaml:"policies"`
	Boundary *string  `yaml:"boundary"`
}

// identity parses the policies of an entry.
func (e identityEntry) identity() (i Identity) {
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

func TestNetworkACLs(t *testing.T) {
	t.Parallel()
	type entry struct {
		Entries []Entry `yaml:"entries"`
		Port    int64   `yaml:"port"`
	}
	predicatetest.Examples(t, "testdata/acl.yaml", func(e entry) predicate.Answer { return Admits(e.Entries, TCP, e.Port) })
}

func TestMFAForAllCorpus(t *testing.T) {
	t.Parallel()
	type entry struct {
		Report       []SignIn `yaml:"report"`
		RootPassword string   `yaml:"rootPassword"`
	}
	predicatetest.Corpus(t, "testdata/mfa-for-all.yaml", func(e entry) predicate.Answer {
		root := map[string]predicate.Truth{"yes": predicate.Yes, "no": predicate.No}[e.RootPassword]
		return MFAForAll(e.Report, root)
	})
}

func TestTLSOnly(t *testing.T) {
	t.Parallel()
	predicatetest.Examples(t, "testdata/tls-only.yaml", func(e policyEntry) predicate.Answer {
		return ask(e.Policy, func(p Policy) predicate.Answer { return p.TLSOnly("files") })
	})
}

func TestRestrictedTrusts(t *testing.T) {
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

func TestTrustsAndAllowed(t *testing.T) {
	t.Parallel()
	const policy = `{"Statement":[
		{"Effect":"Allow","Principal":{"AWS":["111122223333","arn:aws:iam::444455556666:role/x"],"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"},
		{"Effect":"Allow","NotPrincipal":{"AWS":"777788889999"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"x"}}},
		{"Effect":"Deny","Principal":{"AWS":"111122223333"},"Action":"sts:*"},
		{"Effect":"Deny","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:TagSession"},
		{"Effect":"Deny","Principal":"*","Action":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`
	p, _, err := Parse(policy)
	if err != nil {
		t.Fatal(err)
	}
	want := []Trust{{"*", predicate.Yes}, {"AWS:arn:aws:iam::444455556666:role/x", predicate.No}, {"Service:ec2.amazonaws.com", predicate.No}}
	if got := p.Trusts(); !slices.Equal(got, want) {
		t.Errorf("it trusts %v, want %v", got, want)
	}
	names := []string{"*", "AWS:arn:aws:iam::111122223333:root", "AWS:arn:aws:iam::444455556666:role/x", "Service:ec2.amazonaws.com"}
	if got := p.Allowed(); !slices.Equal(got, names) {
		t.Errorf("it allows %q", got)
	}
}
