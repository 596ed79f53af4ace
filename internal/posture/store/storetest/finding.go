package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// newFinding returns a violation by the i-th object.
func newFinding(i int, change ...func(*posture.Finding)) posture.Raised {
	f := posture.Finding{
		Provider: posture.AWS, Object: posture.EntityID(fmt.Sprintf("AWS.S3.a.global.Bucket.bucket-%03d", i)), Type: "AWS.S3.Bucket", XID: fmt.Sprintf("arn:aws:s3:::bucket-%03d", i),
		Name: fmt.Sprintf("bucket-%03d", i), Service: "S3", Region: "eu-west-1", Level: posture.LevelHigh,
		Risk: posture.Risk{Score: i * 37 % 101, Parts: []posture.RiskPart{{Name: "level", Points: 40, Why: "high"}}},
		Tags: map[string]string{"Team": []string{"blue", "red"}[i%2]},
	}
	for _, c := range change {
		c(&f)
	}
	return posture.Raised{Finding: f, Blob: func() string { return fmt.Sprintf(`{"n":%d}`, i) }}
}

// judge records the result of one rule in the account a, which need not exist.
func judge(t *testing.T, f Fixture, generation int64, at time.Time, r posture.RuleJudgement) {
	t.Helper()
	_, err := f.Store.Observe(t.Context(), org, posture.Judgement{Account: "a", Generation: generation, RulesAt: posture.AnyRules, At: at, Rules: []posture.RuleJudgement{r}})
	if err != nil {
		t.Fatal(err)
	}
}

func newJudgement(rule posture.RuleID, objects ...int) posture.RuleJudgement {
	r := posture.RuleJudgement{Rule: rule}
	for _, i := range objects {
		r.Violating = append(r.Violating, newFinding(i))
	}
	return r
}

func find(t *testing.T, f Fixture, rule posture.RuleID, i int) posture.Finding {
	t.Helper()
	got, _, err := f.Store.Finding(t.Context(), org, posture.NewFindingID(org, rule, newFinding(i).Finding.Object))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func total(t *testing.T, f Fixture, filter posture.FindingFilter) int {
	t.Helper()
	page, err := f.Store.Findings(t.Context(), org, filter, nil, posture.Page{Size: 1}, begin)
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}

var openFindings = posture.FindingFilter{Statuses: []posture.FindingStatus{posture.FindingOpen}}

func findingRoundTrips(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1))
	got := find(t, f, "r", 1)
	want := newFinding(1).Finding
	want.ID, want.Rule, want.Account, want.Status = got.ID, "r", "a", posture.FindingOpen
	want.Created, want.Updated = begin, begin
	wantSame(t, "finding", got, want)
	_, blob, err := f.Store.Finding(t.Context(), org, got.ID)
	if err != nil || blob != `{"n":1}` {
		t.Errorf("blob %q, %v", blob, err)
	}
	_, _, err = f.Store.Finding(t.Context(), other, got.ID)
	wantKind(t, "the finding of another organisation", err, fault.NotFound)
}

func findingIsResolvedAndReopened(t *testing.T, f Fixture) {
	later := func(h int) time.Time { return begin.Add(time.Duration(h) * time.Hour) }
	judge(t, f, 1, later(0), newJudgement("r", 1, 2))
	judge(t, f, 2, later(1), newJudgement("r", 1, 2))
	if got := find(t, f, "r", 1); !got.Updated.Equal(begin) {
		t.Errorf("a finding that did not change was updated at %v", got.Updated)
	}
	changed := newJudgement("r", 1, 2)
	changed.Violating[0].Finding.Level = posture.LevelLow
	judge(t, f, 3, later(2), changed)
	if got := find(t, f, "r", 1); got.Level != posture.LevelLow || !got.Updated.Equal(later(2)) || !got.Created.Equal(begin) {
		t.Errorf("updated: %+v", got)
	}
	judge(t, f, 4, later(3), newJudgement("r", 2))
	if got := find(t, f, "r", 1); got.Status != posture.FindingResolved || !got.Resolved.Equal(later(3)) {
		t.Errorf("resolved: %+v", got)
	}
	judge(t, f, 5, later(4), newJudgement("r", 1, 2))
	judge(t, f, 6, later(4), changed) // an update at the same time does not reopen it again
	if got := find(t, f, "r", 1); got.Status != posture.FindingOpen || !got.Created.Equal(later(4)) || !got.Resolved.IsZero() {
		t.Errorf("reopened: %+v", got)
	}
	history, err := f.Store.FindingHistory(t.Context(), org, find(t, f, "r", 1).ID)
	if err != nil {
		t.Fatal(err)
	}
	var what []string
	for _, e := range history {
		what = append(what, e.What)
	}
	wantSame(t, "history", what, []string{"raised", "resolved", "raised"})
}

func unreadRegionsAreTheReason(t *testing.T, f Fixture) {
	inTwoRegions := newJudgement("r", 1, 2)
	inTwoRegions.Violating[0].Finding.Region = "us-east-1"
	inTwoRegions.Violating[1].Finding.Region = "eu-west-1"
	judge(t, f, 1, begin, inTwoRegions)
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.AddAccount(newAccount("a")) })
	if _, err := f.Store.SetCollection(t.Context(), org, "a", posture.CollectionSettings{Regions: []string{"eu-west-1"}}, ""); err != nil {
		t.Fatal(err)
	}
	judge(t, f, 2, begin.Add(time.Hour), newJudgement("r"))
	for i, want := range map[int]string{1: posture.RegionNotRead, 2: ""} {
		history, err := f.Store.FindingHistory(t.Context(), org, find(t, f, "r", i).ID)
		if err != nil {
			t.Fatal(err)
		}
		if history[0].What != "resolved" || history[0].Reason != want {
			t.Errorf("finding %d: %+v, want the reason %q", i, history[0], want)
		}
	}
}

func unknownResultsDoNotResolve(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1, 2, 3))
	object := func(i int) posture.EntityID { return newFinding(i).Finding.Object }
	// The judgements follow each other: findings that one resolves stay resolved.
	for _, tt := range []struct {
		name string
		r    posture.RuleJudgement
		want int
	}{
		{"unknown", posture.RuleJudgement{Rule: "r", Unknown: []posture.EntityID{object(1), object(2), object(3)}}, 3},
		{"not trusted", posture.RuleJudgement{Rule: "r", Trusted: func(posture.EntityID) bool { return false }}, 3},
		{"not judged", posture.RuleJudgement{Rule: "r", Only: []posture.EntityID{"another"}}, 3},
		{"another rule", posture.RuleJudgement{Rule: "s"}, 3},
		{"one judged", posture.RuleJudgement{Rule: "r", Only: []posture.EntityID{object(1)}}, 2},
		{"one trusted", posture.RuleJudgement{Rule: "r", Trusted: func(id posture.EntityID) bool { return id == object(2) }}, 1},
		{"rule gone", posture.RuleJudgement{Rule: "r", Gone: true, Trusted: func(posture.EntityID) bool { return false }}, 0},
	} {
		judge(t, f, 1, begin.Add(time.Hour), tt.r)
		if got := total(t, f, openFindings); got != tt.want {
			t.Errorf("%s: %d findings are open, want %d", tt.name, got, tt.want)
		}
	}
}

func judgementsByOldRulesAreStale(t *testing.T, f Fixture) {
	if err := f.Store.SaveRule(t.Context(), org, newRule("c", 1, posture.Custom), "ada"); err != nil {
		t.Fatal(err)
	}
	_, generation, err := f.Store.Rules(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	j := posture.Judgement{Account: "a", Generation: 1, RulesAt: generation, At: begin, Rules: []posture.RuleJudgement{newJudgement("c", 1)}}
	if _, err := f.Store.Observe(t.Context(), org, j); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store.DeleteRule(t.Context(), org, "c", "", begin); err != nil {
		t.Fatal(err)
	}
	_, err = f.Store.Observe(t.Context(), org, j)
	wantKind(t, "a judgement by a rule that is gone", err, fault.Stale)
	if open := total(t, f, openFindings); open != 0 {
		t.Errorf("%d findings of a deleted rule are open", open)
	}
}

func olderJudgementsAreStale(t *testing.T, f Fixture) {
	observe := func(generation, since int64) (int64, error) {
		return f.Store.Observe(t.Context(), org, posture.Judgement{
			Account: "a", Generation: generation, Since: since, RulesAt: posture.AnyRules, At: begin, Rules: []posture.RuleJudgement{{Rule: "r"}},
		})
	}
	judge(t, f, 7, begin, newJudgement("r", 1))
	_, err := observe(6, 0)
	wantKind(t, "a judgement of an older generation", err, fault.Stale)
	if got := total(t, f, openFindings); got != 1 {
		t.Errorf("%d findings are open, want 1", got)
	}
	last, err := observe(7, 0)
	if err != nil {
		t.Fatal(err)
	}
	next, err := observe(8, last)
	if err != nil || next <= last {
		t.Errorf("an incremental judgement: %d after %d, %v", next, last, err)
	}
	_, err = observe(9, last)
	wantKind(t, "an incremental judgement whose base is not the latest", err, fault.Stale)
	if _, err := observe(8, next); err != nil {
		t.Errorf("a judgement based on the latest was refused: %v", err)
	}
}

func removedAccountResolvesItsFindings(t *testing.T, f Fixture) {
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.AddAccount(newAccount("a")) })
	judge(t, f, 1, begin, newJudgement("r", 1, 2))
	change(t, f.Store, func(tx posture.OnboardingTx) error { return tx.RemoveAccount("a") })
	if open, all := total(t, f, openFindings), total(t, f, posture.FindingFilter{}); open != 0 || all != 2 {
		t.Errorf("%d of %d findings are open, want 0 of 2", open, all)
	}
}

func findingFilters(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1, 2, 3, 4))
	s := newJudgement("s", 5, 6)
	for i := range s.Violating {
		s.Violating[i].Finding.Service, s.Violating[i].Finding.Region, s.Violating[i].Finding.Level = "EC2", "us-east-1", posture.LevelLow
	}
	judge(t, f, 1, begin, s)
	if _, err := f.Store.Suppress(t.Context(), org, find(t, f, "r", 1).ID, &posture.Suppression{By: "ada", Reason: "known", Since: begin, Until: begin.Add(time.Hour)}, "ada", begin); err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	for _, tt := range []struct {
		name   string
		filter posture.FindingFilter
		want   int
	}{
		{"none", posture.FindingFilter{}, 6},
		{"services", posture.FindingFilter{Services: []string{"ec2"}}, 2},
		{"levels", posture.FindingFilter{Levels: []posture.FindingLevel{posture.LevelHigh}}, 4},
		{"accounts", posture.FindingFilter{Accounts: []string{"A"}}, 6},
		{"another account", posture.FindingFilter{Accounts: []string{"b"}}, 0},
		{"regions", posture.FindingFilter{Regions: []string{"us-east-1"}}, 2},
		{"rules", posture.FindingFilter{Rules: []posture.RuleID{"s"}}, 2},
		{"no rule at all", posture.FindingFilter{Rules: []posture.RuleID{}}, 0},
		{"objects", posture.FindingFilter{Objects: []string{string(newFinding(2).Finding.Object)}}, 1},
		{"objects by their own name and by the cloud's long id", posture.FindingFilter{Objects: []string{"bucket-001", "arn:aws:s3:::bucket-002"}}, 2},
		{"ids", posture.FindingFilter{IDs: []posture.FindingID{posture.NewFindingID(org, "r", newFinding(1).Finding.Object), "none"}}, 1},
		{"risk", posture.FindingFilter{MinRisk: 101}, 0},
		{"created before", posture.FindingFilter{Created: posture.Span{To: begin}}, 0},
		{"created since", posture.FindingFilter{Created: posture.Span{From: begin, To: begin.Add(time.Minute)}}, 6},
		{"resolved", posture.FindingFilter{Resolved: posture.Span{From: begin.AddDate(-1, 0, 0)}}, 0},
		{"tags", posture.FindingFilter{Tags: map[string][]string{"team": {"RED"}}}, 3},
		{"suppressed", posture.FindingFilter{Suppressed: &yes}, 1},
		{"not suppressed", posture.FindingFilter{Suppressed: &no}, 5},
		{"substring", posture.FindingFilter{Text: "UCKET-00"}, 6},
		{"short substring", posture.FindingFilter{Text: "uS"}, 2},
		{"substring with special characters", posture.FindingFilter{Text: `%_"'\`}, 0},
		{"combined", posture.FindingFilter{Services: []string{"S3"}, Rules: []posture.RuleID{"r"}, Text: "bucket-001"}, 1},
	} {
		page, err := f.Store.Findings(t.Context(), org, tt.filter, nil, posture.Page{}, begin)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if page.Total != tt.want || len(page.Findings) != tt.want {
			t.Errorf("%s: %d of %d findings, want %d", tt.name, len(page.Findings), page.Total, tt.want)
		}
	}
	page, err := f.Store.Findings(t.Context(), org, posture.FindingFilter{Suppressed: &yes}, nil, posture.Page{}, begin.Add(2*time.Hour))
	if err != nil || page.Total != 0 {
		t.Errorf("%d findings are suppressed after the end of the suppression (%v)", page.Total, err)
	}
}

// everySubstringIsFound searches for all substrings of a name that contains the special
// characters of query languages.
func everySubstringIsFound(t *testing.T, f Fixture) {
	const name = `Ägypten's "x" \ 100%_(a & b) | c:* 0001`
	odd := newFinding(1, func(f *posture.Finding) { f.Name = name })
	judge(t, f, 1, begin, posture.RuleJudgement{Rule: "r", Violating: []posture.Raised{odd, newFinding(2)}})
	runes := []rune(name)
	for length := 1; length <= 8; length++ {
		for i := range len(runes) - length + 1 {
			text := string(runes[i : i+length])
			page, err := f.Store.Findings(t.Context(), org, posture.FindingFilter{Text: text}, nil, posture.Page{}, begin)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if !slices.ContainsFunc(page.Findings, func(f posture.Finding) bool { return f.Name == name }) {
				t.Errorf("%q was not found", text)
			}
		}
	}
}

func findingsArePagedInAnyOrder(t *testing.T, f Fixture) {
	var objects []int
	for i := range 23 {
		objects = append(objects, i)
	}
	all := newJudgement("r", objects...)
	for i := range all.Violating {
		all.Violating[i].Finding.Level = posture.FindingLevels[i%len(posture.FindingLevels)]
	}
	judge(t, f, 1, begin, all)
	byLevel := []posture.FindingSort{{Field: "level", Desc: true}}
	for _, sorts := range [][]posture.FindingSort{
		nil, byLevel, {{Field: "riskScore"}}, {{Field: "region"}, {Field: "creationTime", Desc: true}}, {{Field: "service", Desc: true}, {Field: "riskScore", Desc: true}}, {{Field: "ID", Desc: true}},
	} {
		allFindings, err := f.Store.Findings(t.Context(), org, posture.FindingFilter{}, sorts, posture.Page{}, begin)
		if err != nil {
			t.Fatal(err)
		}
		// All findings have one of the two tags, but tags are not compared in SQL.
		for _, filter := range []posture.FindingFilter{{}, {Tags: map[string][]string{"Team": {"red", "blue"}}}} {
			var seen []posture.Finding
			for p := (posture.Page{Size: 4}); ; {
				page, err := f.Store.Findings(t.Context(), org, filter, sorts, p, begin)
				if err != nil {
					t.Fatal(err)
				}
				seen = append(seen, page.Findings...)
				p.After = page.Next
				if p.After == "" {
					break
				}
			}
			wantSame(t, fmt.Sprint(sorts), seen, allFindings.Findings)
		}
	}
	_, err := f.Store.Findings(t.Context(), org, posture.FindingFilter{}, []posture.FindingSort{{Field: "nonsense"}}, posture.Page{}, begin)
	wantKind(t, "sort by an unknown field", err, fault.Invalid)
	first, err := f.Store.Findings(t.Context(), org, posture.FindingFilter{}, nil, posture.Page{}, begin)
	if err != nil || !slices.IsSortedFunc(first.Findings, func(a, b posture.Finding) int { return b.Risk.Score - a.Risk.Score }) {
		t.Errorf("the default order is not by risk (%v)", err)
	}
	severe, err := f.Store.Findings(t.Context(), org, posture.FindingFilter{}, byLevel, posture.Page{}, begin)
	if err != nil || !slices.IsSortedFunc(severe.Findings, func(a, b posture.Finding) int {
		return slices.Index(posture.FindingLevels, a.Level) - slices.Index(posture.FindingLevels, b.Level)
	}) {
		t.Errorf("findings are not sorted by severity (%v)", err)
	}
}

func findingsAreAggregated(t *testing.T, f Fixture) {
	judge(t, f, 1, begin, newJudgement("r", 1, 2, 3))
	s := newJudgement("s", 4)
	s.Violating[0].Finding.Level = posture.LevelLow
	judge(t, f, 1, begin, s)
	field := func(name string) posture.Attribute { return posture.Attribute{Name: name} }
	count, got, err := f.Store.AggregateFindings(t.Context(), org, posture.FindingFilter{}, map[string]posture.Aggregation{
		"levels":     {Of: field("Level"), Sub: map[string]posture.Aggregation{"rules": {Of: field("ruleId")}, "regions": {Of: field("region")}}},
		"top":        {Of: field("ruleId"), Limit: 1},
		"team":       {Of: posture.Attribute{Kind: posture.TagAttribute, Name: "team"}},
		"suppressed": {Of: field("isSuppressed")},
	}, begin)
	if err != nil || count != 4 {
		t.Fatalf("AggregateFindings = %d, %v", count, err)
	}
	leaf := func(n int) posture.Bucket { return posture.Bucket{Count: n} }
	wantSame(t, "aggregations", got, map[string]posture.Buckets{
		"levels": {
			"High": {Count: 3, Sub: map[string]posture.Buckets{"rules": {"r": leaf(3)}, "regions": {"eu-west-1": leaf(3)}}},
			"Low":  {Count: 1, Sub: map[string]posture.Buckets{"rules": {"s": leaf(1)}, "regions": {"eu-west-1": leaf(1)}}},
		},
		"top":        {"r": leaf(3)},
		"team":       {"red": leaf(2), "blue": leaf(2)},
		"suppressed": {"false": leaf(4)},
	})
	_, _, err = f.Store.AggregateFindings(t.Context(), org, posture.FindingFilter{}, map[string]posture.Aggregation{"x": {Of: field("nonsense")}}, begin)
	wantKind(t, "aggregation by an unknown field", err, fault.Invalid)
	unsuppressed := false
	tag := posture.Attribute{Kind: posture.TagAttribute, Name: "team"}
	for name, tt := range map[string]struct {
		filter posture.FindingFilter
		of     posture.Aggregation
		want   int
	}{
		"stored":                    {of: posture.Aggregation{Of: field("level"), Sub: map[string]posture.Aggregation{"s": {Of: field("ruleId")}}}},
		"stored minus suppressed":   {filter: posture.FindingFilter{Suppressed: &unsuppressed}, of: posture.Aggregation{Of: field("ruleId")}},
		"a tag":                     {of: posture.Aggregation{Of: tag}, want: 4},
		"a tag of a rule":           {filter: posture.FindingFilter{Rules: []posture.RuleID{"r"}}, of: posture.Aggregation{Of: tag}, want: 3},
		"a tag below a field":       {of: posture.Aggregation{Of: field("level"), Sub: map[string]posture.Aggregation{"s": {Of: tag}}}, want: 4},
		"total and count with text": {filter: posture.FindingFilter{Text: "x"}, of: posture.Aggregation{Of: field("level")}, want: 8},
	} {
		if got, err := f.Store.FindingAggregationCost(t.Context(), org, tt.filter, map[string]posture.Aggregation{"a": tt.of}, begin); err != nil || got != tt.want {
			t.Errorf("%s: costs %d, %v; want %d", name, got, err, tt.want)
		}
	}
}

func trendsFollowWhatHappened(t *testing.T, f Fixture) {
	day := 24 * time.Hour
	judge(t, f, 1, begin.Add(-3*day), newJudgement("r", 1, 2, 3))
	judge(t, f, 2, begin.Add(-day), newJudgement("r", 1))
	judge(t, f, 3, begin, newJudgement("r", 1, 2))
	trends, err := f.Store.Trends(t.Context(), org, posture.FindingFilter{}, "day", "", begin)
	if err != nil || len(trends.All) < 5 || trends.Groups != nil {
		t.Fatalf("Trends = %v, %v", trends, err)
	}
	got := trends.All
	want := [][3]int{{0, 0, 0}, {3, 3, 0}, {3, 0, 0}, {1, 0, 2}, {2, 1, 0}} // open, new and resolved on the last five days
	for i, w := range want {
		if g := got[len(got)-5+i]; [3]int{g.Open, g.New, g.Resolved} != w {
			t.Errorf("%s: open %d, new %d, resolved %d, want %v", g.Start.Format(time.DateOnly), g.Open, g.New, g.Resolved, w)
		}
	}
	_, err = f.Store.Trends(t.Context(), org, posture.FindingFilter{}, "year", "", begin)
	wantKind(t, "trends by year", err, fault.Invalid)
	_, err = f.Store.Trends(t.Context(), org, posture.FindingFilter{}, "day", "nonsense", begin)
	wantKind(t, "trends grouped by an unknown field", err, fault.Invalid)
}

func postureCountsVerdicts(t *testing.T, f Fixture) {
	r := newJudgement("r", 1, 2)
	r.Passing, r.Unknown = 5, []posture.EntityID{"x"}
	judge(t, f, 1, begin, r)
	got, err := f.Store.Posture(t.Context(), org, []posture.RuleID{"r", "s"})
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "posture", got, map[posture.RuleID]posture.ControlPosture{"r": {Violating: 2, Passing: 5, Unknown: 1}})
	judge(t, f, 1, begin, newJudgement("s", 1))
	for _, tt := range []struct {
		rules    []posture.RuleID
		accounts []posture.AccountID
		want     []posture.RuleID
	}{
		{nil, nil, []posture.RuleID{"r", "s"}},
		{[]posture.RuleID{"s", "x"}, []posture.AccountID{"a"}, []posture.RuleID{"s"}},
		{nil, []posture.AccountID{"b"}, nil},
	} {
		all, err := f.Store.Verdicts(t.Context(), org, tt.rules, tt.accounts)
		if err != nil {
			t.Fatal(err)
		}
		var rules []posture.RuleID
		for _, v := range all {
			rules = append(rules, v.Rule)
			if v.Rule == "r" {
				wantSame(t, "verdict", v, posture.RuleVerdict{Rule: "r", Account: "a", ControlPosture: posture.ControlPosture{Violating: 2, Passing: 5, Unknown: 1}})
			}
		}
		wantSame(t, "rules of verdicts", rules, tt.want)
	}
	if all, err := f.Store.Verdicts(t.Context(), other, nil, nil); err != nil || len(all) != 0 {
		t.Errorf("verdicts of another organisation: %v, %v", all, err)
	}
}
