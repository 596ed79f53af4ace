package catalog_test

import (
	"strings"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	builtin "vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/derive"
	"vigil/internal/posture/resource"
)

// TestRulesAboutDerivedFactsHaveRawCases checks that each rule whose query uses a
// property or edge that a Go function derives has a violating and a passing case
// with raw answers of the cloud. Without them nothing shows that the function and the rule
// together return the right verdict.
func TestRulesAboutDerivedFactsHaveRawCases(t *testing.T) {
	t.Parallel()
	b := sharedBench()
	derived := 0
	for _, e := range product(t).Rules {
		reads, err := b.schema.Read(e.Query.Text)
		if err != nil {
			t.Fatal(err)
		}
		facts := derivedFacts(e, reads.Types)
		if len(facts) == 0 {
			continue
		}
		derived++
		violates, passes := rawVerdicts(t, b, e)
		if !violates || !passes {
			t.Errorf("%s: no violating and passing case with answers of the cloud, although it uses %s", e.ID, strings.Join(facts, ", "))
		}
	}
	if derived < 300 {
		t.Errorf("%d rules use derived properties or edges, want at least 300", derived)
	}
}

// rawVerdicts reports whether entities that are read from answers of the cloud violate
// and pass a rule in its cases. An entity that a case does not list passes.
func rawVerdicts(t *testing.T, b *bench, e catalog.Entry) (violates, passes bool) {
	t.Helper()
	for _, c := range e.Cases {
		if len(c.Answers) == 0 {
			continue
		}
		violates = violates || len(c.Violates) > 0
		if passes {
			continue
		}
		listed := len(c.Violates) + len(c.Unknown) + len(c.NotApplicable)
		_, found, _ := b.build(t, e, c)
		count := 0
		for _, f := range found {
			if f.Type == e.Type {
				count++
			}
		}
		passes = count > listed
	}
	return violates, passes
}

// derivedFacts returns the properties and edges that the query of a rule uses and a
// function derives.
func derivedFacts(e catalog.Entry, types []posture.EntityType) (facts []string) {
	functions := derive.Functions()
	uses := func(name string) bool { return strings.Contains(e.Query.Text, "'"+name+"'") }
	for _, name := range types {
		kind := builtin.Catalog().Type(name)
		if kind == nil {
			continue
		}
		add := func(fact string) {
			if uses(fact) {
				facts = append(facts, string(name)+" "+fact)
			}
		}
		answers := []*resource.Answer{&kind.Answer}
		for i := range kind.Calls {
			answers = append(answers, &kind.Calls[i].Answer)
			if kind.Calls[i].Function != "" {
				for _, p := range kind.Calls[i].Properties {
					add(p.Name)
				}
			}
		}
		for _, a := range answers {
			for _, d := range a.Derive {
				f := functions.Derive[d.Name]
				for _, p := range f.Properties {
					add(p.Name)
				}
				for _, edge := range f.Edges {
					add(edge.Label)
				}
			}
		}
	}
	return facts
}
