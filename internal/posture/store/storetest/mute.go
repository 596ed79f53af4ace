package storetest

import (
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

func newMute(id posture.MuteRuleID, s posture.MuteScope, until time.Time) posture.MuteRule {
	return posture.MuteRule{ID: id, Name: "mute " + string(id), Scope: s, Reason: "known", By: "ann", Until: until, ETag: "v1", Created: begin, Updated: begin}
}

func anyVersion(string) error { return nil }

func ofRule(id posture.RuleID) posture.MuteScope {
	return posture.MuteScope{Rules: []posture.RuleID{id}}
}

func muteRulesSuppress(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1, 2, 3))
	judge(t, f, 1, begin, newJudgement("s", 4))
	byHand := &posture.Suppression{By: "bob", Reason: "mine", Since: begin}
	if _, err := f.Store.Suppress(t.Context(), org, find(t, f, "r", 1).ID, byHand, "bob", begin); err != nil {
		t.Fatal(err)
	}
	p, err := f.Store.PreviewMute(t.Context(), org, ofRule("r"), begin)
	if err != nil || p.Matched != 3 || p.Suppressed != 1 || len(p.Sample) != 3 || p.ByLevel[find(t, f, "r", 1).Level] != 3 {
		t.Errorf("preview %+v, %v; want 3 findings, of which 1 is suppressed", p, err)
	}
	if p, err := f.Store.PreviewMute(t.Context(), other, ofRule("r"), begin); err != nil || p.Matched != 0 {
		t.Errorf("preview of another organisation %+v, %v; want no findings", p, err)
	}
	m := newMute("m", ofRule("r"), begin.Add(time.Hour))
	if changed, err := f.Store.AddMuteRule(t.Context(), org, m); err != nil || changed != 2 {
		t.Fatalf("muted %d findings, %v; want 2", changed, err)
	}
	wantSame(t, "suppression by hand", find(t, f, "r", 1).Suppression, byHand)
	wantSame(t, "suppression by the mute rule", find(t, f, "r", 2).Suppression, m.Suppression(begin))
	if find(t, f, "s", 4).Suppression != nil {
		t.Error("a finding out of scope is suppressed")
	}

	later := begin.Add(time.Minute)
	judge(t, f, 2, later, newJudgement("r", 1, 2, 3, 5))
	wantSame(t, "suppression of a new finding", find(t, f, "r", 5).Suppression, m.Suppression(later))
	history, err := f.Store.FindingHistory(t.Context(), org, find(t, f, "r", 5).ID)
	if err != nil || len(history) != 2 {
		t.Errorf("history %v, %v; want raised and suppressed", history, err)
	}
	if history[0].What != "suppressed" || history[1].What != "raised" {
		t.Errorf("history %v, want newest first: suppressed, raised", history)
	}
	no, yes := false, true
	if n := total(t, f, posture.FindingFilter{Suppressed: &yes}); n != 4 {
		t.Errorf("%d findings are suppressed, want 4", n)
	}
	after, err := f.Store.Findings(t.Context(), org, posture.FindingFilter{Suppressed: &no}, nil, posture.Page{}, begin.Add(2*time.Hour))
	if err != nil || after.Total != 4 {
		t.Errorf("%d findings are unsuppressed after the mute rule has expired, %v; want 4", after.Total, err)
	}
	judge(t, f, 3, begin.Add(2*time.Hour), newJudgement("r", 1, 2, 3, 5, 6))
	if find(t, f, "r", 6).Suppression != nil {
		t.Error("an expired mute rule suppresses")
	}
}

func mutedFindingsAreReleased(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1, 2))
	judge(t, f, 1, begin, newJudgement("s", 3))
	wide := newMute("wide", posture.MuteScope{Rules: []posture.RuleID{"r", "s"}}, time.Time{})
	narrow := newMute("narrow", ofRule("r"), begin.Add(time.Hour))
	for _, m := range []posture.MuteRule{wide, narrow} {
		if _, err := f.Store.AddMuteRule(t.Context(), org, m); err != nil {
			t.Fatal(err)
		}
	}
	all, err := f.Store.MuteRules(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "mute rules", all, []posture.MuteRule{narrow, wide})
	if all, err := f.Store.MuteRules(t.Context(), other); err != nil || len(all) != 0 {
		t.Errorf("mute rules of another organisation %v, %v; want none", all, err)
	}
	_, err = f.Store.MuteRule(t.Context(), other, "wide")
	wantKind(t, "mute rule of another organisation", err, fault.NotFound)
	_, _, err = f.Store.DeleteMuteRule(t.Context(), other, "wide", anyVersion, begin)
	wantKind(t, "delete a mute rule of another organisation", err, fault.NotFound)
	_, _, err = f.Store.DeleteMuteRule(t.Context(), org, "wide", func(string) error { return fault.New(fault.Stale, "old") }, begin)
	wantKind(t, "delete another version", err, fault.Stale)

	later := begin.Add(time.Minute)
	changed, old, err := f.Store.DeleteMuteRule(t.Context(), org, "wide", anyVersion, later)
	if err != nil || changed != 3 {
		t.Errorf("deleting changed %d findings, %v; want 3", changed, err)
	}
	wantSame(t, "deleted rule", old, wide)
	wantSame(t, "suppression that another rule took over", find(t, f, "r", 1).Suppression, narrow.Suppression(later))
	if find(t, f, "s", 3).Suppression != nil {
		t.Error("the finding of a deleted mute rule is suppressed")
	}

	moved := newMute("narrow", posture.MuteScope{Rules: []posture.RuleID{"s"}}, time.Time{})
	moved.Updated, moved.Created = later, later
	changed, now, err := f.Store.ReplaceMuteRule(t.Context(), org, moved, anyVersion)
	if err != nil || changed != 3 || !now.Created.Equal(begin) {
		t.Errorf("replacing changed %d findings, created %s, %v; want 3 and the creation time of the replaced rule", changed, now.Created, err)
	}
	if find(t, f, "r", 1).Suppression != nil || find(t, f, "s", 3).Suppression == nil {
		t.Error("the finding that left the scope is suppressed, or the one that entered it is not")
	}
}

func longestMuteRuleSuppresses(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1, 2))
	short := newMute("short", ofRule("r"), begin.Add(time.Hour))
	long := newMute("long", ofRule("r"), begin.Add(2*time.Hour))
	if changed, err := f.Store.AddMuteRule(t.Context(), org, short); err != nil || changed != 2 {
		t.Fatalf("muted %d findings, %v; want 2", changed, err)
	}
	if changed, err := f.Store.AddMuteRule(t.Context(), org, long); err != nil || changed != 2 {
		t.Errorf("the rule that ends later took over %d findings, %v; want 2", changed, err)
	}
	wantSame(t, "suppression by the rule that ends later", find(t, f, "r", 1).Suppression, long.Suppression(begin))

	later := begin.Add(time.Minute)
	long.Until, long.Updated = begin.Add(30*time.Minute), later
	if changed, _, err := f.Store.ReplaceMuteRule(t.Context(), org, long, anyVersion); err != nil || changed != 2 {
		t.Errorf("an earlier end changed %d findings, %v; want 2", changed, err)
	}
	wantSame(t, "suppression after the other rule ends earlier", find(t, f, "r", 2).Suppression, short.Suppression(later))

	equal := newMute("equal", ofRule("r"), short.Until)
	if changed, err := f.Store.AddMuteRule(t.Context(), org, equal); err != nil || changed != 0 {
		t.Errorf("a rule that ends at the same time changed %d findings, %v; want 0", changed, err)
	}
	short.Reason, short.Updated = "still known", later
	if _, _, err := f.Store.ReplaceMuteRule(t.Context(), org, short, anyVersion); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "suppression by the replaced rule", find(t, f, "r", 1).Suppression, short.Suppression(later))
}

func repeatedMuteRuleKeepsSuppressions(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1, 2))
	judge(t, f, 1, begin, newJudgement("s", 3))
	m := newMute("m", ofRule("r"), begin.Add(time.Hour))
	if _, err := f.Store.AddMuteRule(t.Context(), org, m); err != nil {
		t.Fatal(err)
	}
	replace := func(m posture.MuteRule, want int) {
		t.Helper()
		if changed, _, err := f.Store.ReplaceMuteRule(t.Context(), org, m, anyVersion); err != nil || changed != want {
			t.Errorf("replacing changed %d findings, %v; want %d", changed, err, want)
		}
	}
	wantEvents := func(rule posture.RuleID, object, want int) {
		t.Helper()
		history, err := f.Store.FindingHistory(t.Context(), org, find(t, f, rule, object).ID)
		if err != nil || len(history) != want {
			t.Errorf("history %v, %v; want %d events", history, err, want)
		}
	}
	later := begin.Add(time.Minute)
	same := m
	same.ETag, same.Updated = "v2", later
	replace(same, 0)
	wantSame(t, "suppression after the same rule was stored again", find(t, f, "r", 1).Suppression, m.Suppression(begin))
	wantEvents("r", 1, 2)

	wide := same
	wide.Scope.Rules = []posture.RuleID{"r", "s"}
	replace(wide, 1)
	wantSame(t, "suppression of a finding that the scope had already", find(t, f, "r", 2).Suppression, m.Suppression(begin))
	wantSame(t, "suppression of a finding that entered the scope", find(t, f, "s", 3).Suppression, m.Suppression(later))
	wantEvents("r", 2, 2)
	wantEvents("s", 3, 2)

	taken := wide
	taken.By = "bob"
	replace(taken, 3)
	wantSame(t, "suppression after another user stored the rule", find(t, f, "r", 1).Suppression, taken.Suppression(later))
	wantEvents("r", 1, 3)
}

func mutesFollowTags(t *testing.T, f Fixture) {
	tagged := func(env string) posture.RuleJudgement {
		r := newJudgement("r", 1, 2)
		for i := range r.Violating {
			r.Violating[i].Finding.Tags = map[string]string{"env": env}
		}
		return r
	}
	judge(t, f, 1, begin, tagged("prod"))
	m := newMute("m", posture.MuteScope{Tags: map[string][]string{"env": {"dev"}}}, time.Time{})
	if changed, err := f.Store.AddMuteRule(t.Context(), org, m); err != nil || changed != 0 {
		t.Fatalf("muted %d findings, %v; want 0 before they have the tag", changed, err)
	}
	judge(t, f, 2, begin.Add(time.Minute), tagged("dev"))
	if s := find(t, f, "r", 1).Suppression; s == nil || s.MuteRule != "m" {
		t.Errorf("suppression %v after the tag of the scope was set", s)
	}
	// A person releases one: the mute rule must not suppress it again.
	if _, err := f.Store.Suppress(t.Context(), org, find(t, f, "r", 2).ID, nil, "bob", begin); err != nil {
		t.Fatal(err)
	}
	second := tagged("dev")
	for i := range second.Violating {
		second.Violating[i].Finding.Tags["owner"] = "x"
	}
	judge(t, f, 3, begin.Add(2*time.Minute), second)
	if find(t, f, "r", 2).Suppression != nil {
		t.Error("a finding that a person released was muted when it changed")
	}
	judge(t, f, 4, begin.Add(3*time.Minute), tagged("prod"))
	if find(t, f, "r", 1).Suppression != nil {
		t.Error("a finding that left the scope is suppressed")
	}
}
