package storetest

import (
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func newRule(id posture.RuleID, version int, source posture.RuleSource) posture.Rule {
	return posture.Rule{
		ID: id, Name: string(id), DisplayName: string(id), Status: posture.RuleEnabled, Source: source, Category: "Security", Provider: posture.AWS,
		Level: posture.High, Query: posture.RuleQuery{Language: posture.GraphQuery, Text: "g.V()"}, Controls: []string{"a_1"},
		Resources: map[string]string{"https://example.com": "x"}, Tags: map[string]string{"a": "b"}, Version: version, ETag: "v", Created: begin, Updated: begin,
	}
}

func rulesKeepTheirVersions(t *testing.T, f Fixture) {
	// Version 1 of a native rule is never stored: the first stored version is 2.
	save := func(r posture.Rule) error { return f.Store.SaveRule(t.Context(), org, r, "ada") }
	if err := all(save(newRule("c", 1, posture.Custom)), save(newRule("c", 2, posture.Custom)), save(newRule("n", 2, posture.Native))); err != nil {
		t.Fatal(err)
	}
	generation, err := f.Store.RuleGeneration(t.Context(), org)
	if err != nil || generation == 0 {
		t.Errorf("generation %d after changes, %v; want more than 0", generation, err)
	}
	if none, err := f.Store.RuleGeneration(t.Context(), other); err != nil || none != 0 {
		t.Errorf("generation %d of an organisation without changes, %v", none, err)
	}
	wantKind(t, "adding a rule that exists", save(newRule("c", 1, posture.Custom)), fault.Conflict)
	wantKind(t, "the stored version", save(newRule("c", 2, posture.Custom)), fault.Stale)
	wantKind(t, "a skipped version", save(newRule("n", 4, posture.Native)), fault.Stale)
	got, at, err := f.Store.Rules(t.Context(), org)
	if err != nil || at != generation { // a refused change does not count
		t.Fatalf("generation %d after refused changes, %v; want still %d", at, err, generation)
	}
	wantSame(t, "rules", got, map[posture.RuleID]posture.Rule{"c": newRule("c", 2, posture.Custom), "n": newRule("n", 2, posture.Native)})
	history, err := f.Store.RuleHistory(t.Context(), org, "c")
	if err != nil || len(history) != 2 || history[0].Version != 2 || history[0].By != "ada" {
		t.Errorf("history %v, %v; want versions 2 and 1 by ada", history, err)
	}

	judge(t, f, 1, begin, newJudgement("c", 1))
	_, err = f.Store.DeleteRule(t.Context(), other, "c", "", begin)
	wantKind(t, "deleting the rule of another organisation", err, fault.NotFound)
	_, err = f.Store.DeleteRule(t.Context(), org, "c", "stale", begin)
	wantKind(t, "deleting another version", err, fault.Stale)
	if _, err := f.Store.DeleteRule(t.Context(), org, "c", "v", begin); err != nil {
		t.Fatal(err)
	}
	if open := total(t, f, openFindings); open != 0 {
		t.Errorf("%d findings of a deleted rule are open", open)
	}
	if rules, later, err := f.Store.Rules(t.Context(), org); err != nil || len(rules) != 1 || later <= generation {
		t.Errorf("after deleting: %d rules, generation %d, %v; want 1 and more than %d", len(rules), later, err, generation)
	}
}

func frameworkRoundTrips(t *testing.T, f Fixture) {
	want := posture.Framework{ID: "own", Name: "Own", Custom: true, Controls: []posture.Control{{ID: "1", Title: "One", Section: "S"}}, Created: begin, Updated: begin}
	if err := f.Store.SaveFramework(t.Context(), org, want); err != nil {
		t.Fatal(err)
	}
	got, err := f.Store.Frameworks(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "frameworks", got, []posture.Framework{want})
	wantKind(t, "deleting the framework of another organisation", f.Store.DeleteFramework(t.Context(), other, "own"), fault.NotFound)
	if err := f.Store.SaveAssessment(t.Context(), org, posture.Assessment{Framework: "own", Control: "1"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Store.DeleteFramework(t.Context(), org, "own"); err != nil {
		t.Error(err)
	}
	if left, err := f.Store.Assessments(t.Context(), org, "own"); err != nil || len(left) != 0 {
		t.Errorf("assessments of a deleted framework: %v, %v", left, err)
	}
}

func assessmentRoundTrips(t *testing.T, f Fixture) {
	first := posture.Assessment{Framework: "cis", Control: "1.1", Verdict: posture.AssessedPass, Reason: "seen", By: "ann", At: begin, Until: begin.AddDate(1, 0, 0)}
	second := posture.Assessment{Framework: "cis", Control: "1.2", Verdict: posture.AssessedViolation, Reason: "no contact", By: "ann", At: begin}
	for _, a := range []posture.Assessment{second, first, {Framework: "pci", Control: "1.1"}} {
		if err := f.Store.SaveAssessment(t.Context(), org, a); err != nil {
			t.Fatal(err)
		}
	}
	second.Verdict, second.Reason = posture.AssessedPass, "contact added"
	if err := f.Store.SaveAssessment(t.Context(), org, second); err != nil {
		t.Fatal(err)
	}
	got, err := f.Store.Assessments(t.Context(), org, "cis")
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "assessments", got, []posture.Assessment{first, second})
	if foreign, err := f.Store.Assessments(t.Context(), other, "cis"); err != nil || len(foreign) != 0 {
		t.Errorf("assessments of another organisation: %v, %v", foreign, err)
	}
	_, err = f.Store.DeleteAssessment(t.Context(), other, "cis", "1.1")
	wantKind(t, "deleting the assessment of another organisation", err, fault.NotFound)
	deleted, err := f.Store.DeleteAssessment(t.Context(), org, "cis", "1.1")
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "deleted assessment", deleted, first)
	_, err = f.Store.DeleteAssessment(t.Context(), org, "cis", "1.1")
	wantKind(t, "deleting again", err, fault.NotFound)
}
