package main

import (
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/evaluate"
)

// TestRulesMatchHandWrittenChecks compares ten rules of the catalog with the
// same checks in Go on a generated account.
func TestRulesMatchHandWrittenChecks(t *testing.T) {
	t.Parallel()
	w, err := newFixture()
	if err != nil {
		t.Fatal(err)
	}
	all := w.generator.generate(20_000)
	g, err := build(all)
	if err != nil {
		t.Fatal(err)
	}
	e := evaluate.New(w.schema, nil, func() time.Time { return catalog.CaseTime })
	a := evaluate.Account{ID: account, Provider: posture.AWS, Graph: g, Coverage: w.coverage()}
	entities := read(all)
	if err := w.agree(t.Context(), e, a, entities); err != nil {
		t.Error(err)
	}
	for id, c := range byHand {
		if violating, _ := c.run(entities); len(violating) == 0 {
			t.Errorf("nothing violates %s: the account does not test it", id)
		}
	}
}
