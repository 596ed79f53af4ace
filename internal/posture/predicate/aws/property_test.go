package aws

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path"
	"slices"
	"testing"

	"vigil/internal/posture/predicate"
	"vigil/internal/posture/predicate/predicatetest"
)

// openness orders answers: no < unknown < yes.
func openness(a predicate.Answer) int {
	return map[predicate.Truth]int{predicate.No: 0, predicate.Unknown: 1, predicate.Yes: 2}[a.Truth]
}

// readable returns the policies of the corpus that can be parsed.
func readable(t *testing.T) map[string]Policy {
	t.Helper()
	all := map[string]Policy{}
	for _, e := range predicatetest.Read[policyEntry](t, "testdata/public.yaml") {
		if p, _, err := Parse(e.Input.Policy); err == nil {
			all[e.Name] = p
		}
	}
	return all
}

// TestDenyNeverMakesPublic turns every statement of the corpus into a Deny and adds it to
// every policy of the corpus.
func TestDenyNeverMakesPublic(t *testing.T) {
	t.Parallel()
	all := readable(t)
	var denies []Statement
	for _, p := range all {
		for _, s := range p.Statements {
			denied := s
			denied.Allow = false
			denies = append(denies, denied)
		}
	}
	for name, p := range all {
		before := p.Public()
		for _, d := range denies {
			after := Policy{append(slices.Clone(p.Statements), d)}.Public()
			if openness(after) > openness(before) {
				t.Fatalf("%s was %s and is %s with %+v", name, before.Truth, after.Truth, d)
			}
		}
		if after := (Policy{append(slices.Clone(p.Statements), Statement{Principals: Principals{Given: true, Names: []string{"*"}}, Actions: Patterns{List: []string{"*"}}, Resources: Patterns{List: []string{"*"}}})}).Public(); after.Truth != predicate.No {
			t.Errorf("%s is %s although everything is denied", name, after.Truth)
		}
	}
}

// TestAllowNeverMakesPrivate adds every Allow of the corpus to every policy of the corpus.
func TestAllowNeverMakesPrivate(t *testing.T) {
	t.Parallel()
	all := readable(t)
	for name, p := range all {
		for other, o := range all {
			for _, s := range o.Statements {
				if s.Allow && openness(Policy{append(slices.Clone(p.Statements), s)}.Public()) < openness(p.Public()) {
					t.Fatalf("%s is less public with what %s allows", name, other)
				}
			}
		}
	}
}

// TestUnknownOperatorNeverPasses replaces the operator of each condition by an
// unknown one. If the statement is public without the condition, the answer must
// not be no. For a Deny, the answer is unknown or the same as without the condition.
func TestUnknownOperatorNeverPasses(t *testing.T) {
	t.Parallel()
	for name, p := range readable(t) {
		for i, s := range p.Statements {
			for j := range s.Conditions {
				without, garbled := clone(p), clone(p)
				without.Statements[i].Conditions = slices.Delete(without.Statements[i].Conditions, j, j+1)
				garbled.Statements[i].Conditions[j].Operator = "Whatever"
				if s.Allow && without.Public().Truth != predicate.No && garbled.Public().Truth == predicate.No {
					t.Errorf("%s: it is not public with an unknown operator in an Allow", name)
				}
				if !s.Allow && without.Public().Truth != garbled.Public().Truth && garbled.Public().Truth != predicate.Unknown {
					t.Errorf("%s: an unknown operator in a Deny decides", name)
				}
			}
		}
	}
}

func clone(p Policy) Policy {
	p.Statements = slices.Clone(p.Statements)
	for i := range p.Statements {
		p.Statements[i].Conditions = slices.Clone(p.Statements[i].Conditions)
	}
	return p
}

// TestDenyAndBoundaryNeverMakeAdmin adds Deny statements and boundaries to the
// identities of the corpora.
func TestDenyAndBoundaryNeverMakeAdmin(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"testdata/admin.yaml", "testdata/privileged.yaml"} {
		entries := predicatetest.Read[identityEntry](t, file)
		var denies []Policy
		for _, e := range entries {
			for _, p := range e.Input.identity().Policies {
				p = clone(p)
				for i := range p.Statements {
					p.Statements[i].Allow = false
				}
				denies = append(denies, p)
			}
		}
		for n, e := range entries {
			for _, ask := range []func(Identity) predicate.Answer{Identity.Admin, Identity.Privileged} {
				complete := e.Input.identity()
				before := ask(complete)
				for i, d := range denies {
					if i%31 != n%31 {
						continue // test only a sample of the pairs
					}
					reduced := complete
					reduced.Policies = append(slices.Clone(complete.Policies), d)
					if openness(ask(reduced)) > openness(before) {
						t.Fatalf("%s: %s may do more with a Deny: %+v", file, e.Name, d)
					}
				}
				for i, other := range entries {
					if i%31 != n%31 {
						continue
					}
					bounded := complete
					if boundary := other.Input.identity(); complete.Boundary == nil && len(boundary.Policies) > 0 && boundary.Unread == "" {
						bounded.Boundary = &boundary.Policies[0]
						if openness(ask(bounded)) > openness(before) {
							t.Fatalf("%s: %s may do more within the boundary of %s", file, e.Name, other.Name)
						}
					}
				}
				if e.Input.identity().Admin().Truth == predicate.Yes && e.Input.identity().Privileged().Truth != predicate.Yes {
					t.Fatalf("%s: %s is administrator and not privileged", file, e.Name)
				}
			}
		}
	}
}

// TestWideningNeverCloses widens each range of random firewalls by one bit, adds
// rules, and adds a rule with a prefix list that was not read.
func TestWideningNeverCloses(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		f := randomFirewall(random)
		port, version := int64(random.IntN(4)), 4+2*random.IntN(2)
		before := f.Reaches(TCP, port, version)
		for i := range f.Rules {
			for j, text := range f.Rules[i].Ranges {
				p := netip.MustParsePrefix(text)
				if p.Bits() == 0 {
					continue
				}
				wide := Firewall{slices.Clone(f.Rules), f.Lists}
				wide.Rules[i].Ranges = slices.Clone(f.Rules[i].Ranges)
				wide.Rules[i].Ranges[j] = netip.PrefixFrom(p.Addr(), p.Bits()-1).String()
				if openness(wide.Reaches(TCP, port, version)) < openness(before) {
					t.Fatalf("%+v is less open when %s is widened", f, text)
				}
			}
		}
		more := Firewall{append(slices.Clone(f.Rules), randomFirewall(random).Rules...), f.Lists}
		if openness(more.Reaches(TCP, port, version)) < openness(before) {
			t.Fatalf("%+v is less open with more rules", f)
		}
		unread := Firewall{append(slices.Clone(f.Rules), Rule{Protocol: "-1", PrefixLists: []string{"pl-unread"}}), f.Lists}
		if unread.Reaches(TCP, port, version).Truth == predicate.No {
			t.Fatalf("%+v passes with an unread prefix list", f)
		}
	}
}

func randomFirewall(random *rand.Rand) (f Firewall) {
	for range 1 + random.IntN(3) {
		from := int64(random.IntN(4))
		to := from + int64(random.IntN(3))
		r := Rule{Protocol: []string{"tcp", "udp", "-1", "icmp"}[random.IntN(4)], From: &from, To: &to}
		for range random.IntN(3) {
			if random.IntN(2) == 0 {
				r.Ranges = append(r.Ranges, fmt.Sprintf("%d.0.0.0/%d", random.IntN(256), random.IntN(12)))
			} else {
				r.Ranges = append(r.Ranges, fmt.Sprintf("2%03x::/%d", random.IntN(4096), random.IntN(40)))
			}
		}
		f.Rules = append(f.Rules, r)
	}
	return f
}

// TestPatternsMatchTexts compares covers and overlaps for all pairs of patterns up to 4
// characters with the texts that path.Match matches. A pattern covers a text without
// wildcards if it matches it. The texts have a character that is in no pattern, which only
// wildcards match.
func TestPatternsMatchTexts(t *testing.T) {
	t.Parallel()
	texts, patterns := stringsOf("abc", 5), stringsOf("ab*?", 4)
	texts = append(texts, stringsOf("ab", 6)...) // 6, because aaa* and *bbb have no shorter text in common
	matched := map[string][]bool{}               // by pattern and number of the text
	for _, p := range patterns {
		for _, text := range texts {
			want, err := path.Match(p, text)
			if err != nil {
				t.Fatal(err)
			}
			if covers(p, text) != want {
				t.Errorf("covers(%q, %q) is %t", p, text, !want)
			}
			matched[p] = append(matched[p], want)
		}
	}
	for _, a := range patterns {
		for _, b := range patterns {
			both, all := false, true // some text matches both; all texts that match b match a
			for i, inA := range matched[a] {
				inB := matched[b][i]
				both = both || inA && inB
				all = all && (inA || !inB)
				if both && !all {
					break
				}
			}
			if overlaps(a, b) != both {
				t.Errorf("overlaps(%q, %q) is %t", a, b, !both)
			}
			if covers(a, b) != all {
				t.Errorf("covers(%q, %q) is %t", a, b, !all)
			}
		}
	}
}

// stringsOf returns all strings of the characters up to a length.
func stringsOf(characters string, length int) []string {
	all := []string{""}
	for i := 0; len(all[i]) < length; i++ {
		for _, c := range characters {
			all = append(all, all[i]+string(c))
		}
	}
	return all
}

func FuzzParse(f *testing.F) {
	f.Add(`{"Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":"*","Resource":"*","Condition":{"Bool":{"a":["b",1,true,null]}}}]}`)
	f.Add(`%7B%22Statement%22%3A%7B%7D%7D`)
	f.Fuzz(func(t *testing.T, text string) {
		p, _, err := Parse(text)
		if err != nil && len(p.Statements) > 0 {
			t.Error("a malformed policy has statements")
		}
		p.Public()
		p.TLSOnly("b")
		p.Trusts()
		i := Identity{Policies: []Policy{p}, Boundary: &p}
		i.Admin()
		i.Privileged()
	})
}
