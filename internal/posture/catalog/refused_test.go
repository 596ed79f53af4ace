package catalog_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect/cases"
	builtin "vigil/internal/posture/collect/declared"
	"vigil/resources"
)

// TestRefusedCallNeverDecides refuses each call in the cases with raw responses, one at a
// time. A violation or a pass may become unknown, but a violation must not become a pass,
// nor a pass a violation.
//
// By default, it denies the calls in the cases of rules. With VIGIL_FAULT_PLANS, it also
// throttles them, refuses them for single inputs, and uses the cases of resource types.
func TestRefusedCallNeverDecides(t *testing.T) {
	t.Parallel()
	b := sharedBench()
	thorough := os.Getenv("VIGIL_FAULT_PLANS") != ""
	about := map[posture.EntityType][]catalog.Entry{}
	for _, e := range product(t).Rules {
		about[e.Type] = append(about[e.Type], e)
		t.Run(string(e.ID), func(t *testing.T) {
			t.Parallel()
			reads, err := b.schema.Read(e.Query.Text)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range e.Cases {
				b.refuseEach(t, []catalog.Entry{e}, c, reads.Types, thorough)
			}
		})
	}
	for _, declaration := range builtin.Catalog().Types() {
		if len(about[declaration.Type]) == 0 || !thorough {
			continue
		}
		t.Run(string(declaration.Type), func(t *testing.T) {
			t.Parallel()
			typeCases, err := cases.Read(resources.Files, declaration.File())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range typeCases {
				if c.Get == "" { // the case lists the resources, and does not read one by its name
					b.refuseEach(t, about[declaration.Type], catalog.Case{Name: c.Name, Answers: c.Answers}, []posture.EntityType{declaration.Type}, thorough)
				}
			}
		})
	}
}

// refuseEach compares the verdicts of rules on a case with the verdicts when one of its
// calls is refused.
func (b *bench) refuseEach(t *testing.T, rules []catalog.Entry, c catalog.Case, types []posture.EntityType, thorough bool) {
	t.Helper()
	if len(c.Answers) == 0 {
		return
	}
	beside, _, err := c.Build() // the entities that the case has beside its answers
	if err != nil {
		t.Fatal(err)
	}
	whole := b.readAnswers(t, c, types, beside)
	verdicts := make([]posture.RuleJudgement, len(rules))
	for i, e := range rules {
		verdicts[i] = b.judge(t, e, whole.Case, whole.found)
	}
	for call, refused := range refusals(c.Answers, thorough) {
		part := c
		part.Answers = refused
		read := b.readAnswers(t, part, types, beside)
		for i, e := range rules {
			before, after := verdicts[i], b.judge(t, e, read.Case, read.found)
			for _, id := range objects(before.Violating) {
				// A violation may also end because the list of its type failed, so that the entity is missing.
				stillRead := slices.ContainsFunc(read.found, func(f posture.Entity) bool { return f.ID == id })
				missing := !stillRead && read.failed[e.Type]
				passes := !slices.Contains(objects(after.Violating), id) && !slices.Contains(after.Unknown, id)
				if passes && !missing {
					t.Errorf("%s: case %q with %s: %s passes", e.ID, c.Name, call, id)
				}
			}
			for _, id := range objects(after.Violating) {
				if !slices.Contains(objects(before.Violating), id) && !slices.Contains(before.Unknown, id) {
					t.Errorf("%s: case %q with %s: %s violates", e.ID, c.Name, call, id)
				}
			}
		}
	}
}

// An answered case is a case with all of its entities, including those that were read from
// its answers.
type answered struct {
	catalog.Case
	found  []posture.Entity
	failed map[posture.EntityType]bool // types whose list failed
}

// readAnswers reads the entities of some types from the answers of a case. It adds the
// entities that the case has beside its answers.
func (b *bench) readAnswers(t *testing.T, c catalog.Case, types []posture.EntityType, beside []posture.Entity) answered {
	t.Helper()
	// The error is ignored. It only reports unused answers: if a list is refused, the answers
	// about its items are not used.
	read, _ := cases.ReadAll(t.Context(), builtin.Catalog(), types, c.Answers)
	out := answered{Case: c, found: slices.Concat(beside, read.Entities), failed: map[posture.EntityType]bool{}}
	for kind := range read.Failed {
		out.Unread = append(slices.Clone(out.Unread), catalog.Unread{Type: kind})
		out.failed[kind] = true
	}
	for _, f := range read.Entities {
		if f.Region != posture.Global && !slices.Contains(out.Regions, f.Region) {
			out.Regions = append(slices.Clone(out.Regions), f.Region)
		}
	}
	return out
}

// refusals returns variants of the answers, by name. In each variant, one call is denied
// for all of its inputs. If thorough is true, there are also variants in which a call is
// throttled, and variants in which it is refused for one of its inputs only.
func refusals(answers map[string]any, thorough bool) map[string]map[string]any {
	variants := map[string]map[string]any{}
	words := []string{"denied"}
	if thorough {
		words = append(words, "throttled")
	}
	for call, answer := range answers {
		for _, word := range words {
			refused := maps.Clone(answers)
			refused[call] = word
			variants[call+" "+word] = refused
			options, ok := answer.([]any)
			if !ok || !thorough {
				continue
			}
			for i := range options {
				option, ok := options[i].(map[string]any)
				if !ok {
					continue
				}
				option = maps.Clone(option)
				option["answer"] = word
				one := slices.Clone(options)
				one[i] = option
				refused := maps.Clone(answers)
				refused[call] = one
				variants[fmt.Sprintf("%s %s for number %d", call, word, i+1)] = refused
			}
		}
	}
	return variants
}
