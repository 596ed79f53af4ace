package app_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/sqldb/dbtest"
)

// TestPostureBySectionAndAccount checks that controls are counted, not resources: a
// violated control counts once, however many resources violate it.
func TestPostureBySectionAndAccount(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	first, second := posture.AccountID("111111111111"), posture.AccountID("222222222222")
	type counts struct{ passing, violating, unknown int }
	observe := func(account posture.AccountID, rule string, c counts) {
		j := posture.RuleJudgement{Rule: posture.RuleID(rule), Passing: c.passing}
		for n := range c.violating {
			id := posture.EntityType("AWS.IAM.User").ID(account, "", rule+string(rune('a'+n)))
			j.Violating = append(j.Violating, posture.Raised{
				Finding: posture.Finding{Provider: posture.AWS, Object: id, Type: "AWS.IAM.User", Level: posture.LevelLow, Risk: posture.Risk{Score: 1}},
				Blob:    func() string { return "{}" },
			})
		}
		for n := range c.unknown {
			j.Unknown = append(j.Unknown, posture.EntityType("AWS.IAM.User").ID(account, "", "unreadable"+string(rune('a'+n))))
		}
		if _, err := i.store.Observe(t.Context(), i.org, posture.Judgement{Account: account, RulesAt: posture.AnyRules, At: time.Now(), Rules: []posture.RuleJudgement{j}}); err != nil {
			t.Fatal(err)
		}
	}
	observe(first, "aws-iam-root-mfa", counts{violating: 1})
	observe(second, "aws-iam-root-mfa", counts{passing: 1})
	observe(first, "aws-iam-user-console-mfa", counts{passing: 7, violating: 2, unknown: 1})
	observe(second, "aws-iam-user-console-mfa", counts{passing: 7, unknown: 1})
	observe(first, "aws-iam-root-access-key", counts{passing: 1})

	got := i.want(200, "POST", "/v1/compliance-frameworks/cis-aws-5.0/posture", nil)
	if source, _ := i.want(200, "GET", "/v1/compliance-frameworks/cis-aws-5.0", nil).body["source"].(string); source == "" {
		t.Error("the framework has no source")
	}
	assessments := map[any]int{}
	for _, c := range results(got) {
		assessments[c["assessment"]]++
		if c["accounts"] != nil || c["rules"] != nil {
			t.Errorf("details were not requested: %v", c)
		}
	}
	if assessments["rule"] == 0 || assessments["manual"] == 0 || len(got.body["results"].([]any)) != 63 {
		t.Errorf("assessments %v of %d controls", assessments, len(got.body["results"].([]any)))
	}
	// In CIS 5.0, every control without a rule is manual. In Foundational Security Best Practices, some have neither.
	if !slices.ContainsFunc(results(i.want(200, "POST", "/v1/compliance-frameworks/aws-fsbp-1.0/posture", nil)), func(c object) bool { return c["assessment"] == "noRule" }) {
		t.Error("no control of aws-fsbp-1.0 has the assessment noRule")
	}
	sections := got.body["sections"].([]any)
	identity := sections[0].(object)
	if identity["section"] != "Identity and access management" || identity["violating"] != 2.0 || identity["passing"] != 1.0 || identity["unknown"] != 0.0 || identity["manual"] == 0.0 {
		t.Errorf("the section identity is %v", identity)
	}
	sum := 0.0
	for _, s := range sections {
		for name, n := range s.(object) {
			if name != "section" {
				sum += n.(float64)
			}
		}
	}
	if sum != 63 {
		t.Errorf("sections count %v controls, want 63", sum)
	}
	accounts := got.body["accounts"].(object)
	one, two := accounts[string(first)].(object), accounts[string(second)].(object)
	if one["violating"] != 2.0 || one["passing"] != 1.0 || two["violating"] != 0.0 || two["unknown"] != 1.0 || two["passing"] != 1.0 {
		t.Errorf("accounts are %v", accounts)
	}
}

// TestControlsOfUnlistedResourcesAreUnknown distinguishes an account without users from
// one whose users could not be listed.
func TestControlsOfUnlistedResourcesAreUnknown(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0, aws.New(aws.Options{}))
	account, _ := i.network()
	control := func() object {
		for _, c := range results(i.want(200, "POST", "/v1/compliance-frameworks/cis-aws-3.0/posture", object{"cloudAccountIds": []any{account}})) {
			if c["controlId"] == "1.10" { // its rule is about AWS.IAM.User
				return c
			}
		}
		t.Fatal("the framework has no control 1.10")
		return nil
	}
	tally := func() object {
		return i.want(200, "POST", "/v1/compliance-frameworks/cis-aws-3.0/posture", nil).body["sections"].([]any)[0].(object)
	}
	if c := control(); c["notListed"] != 0.0 || c["unread"] != nil {
		t.Errorf("everything was read: %v", c)
	}
	before := tally()
	scope := posture.Scope{Org: i.org, Account: account, Type: "AWS.IAM.User", Region: posture.Global}
	if err := i.store.ScopeFailed(t.Context(), scope, "iam:ListUsers is denied"); err != nil {
		t.Fatal(err)
	}
	c := control()
	if c["notListed"] != 1.0 || c["violating"] != 0.0 || c["unread"].([]any)[0].(object)["why"] != "iam:ListUsers is denied" {
		t.Errorf("users were not listed: %v", c)
	}
	if after := tally(); after["unknown"].(float64) <= before["unknown"].(float64) {
		t.Errorf("the section was %v and is %v, want more unknown controls", before, after)
	}
}

// TestPostureTrend checks that a control counts as violated on the days on which a finding
// of its rules was open.
func TestPostureTrend(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	now := time.Now().UTC()
	type observation struct {
		account            posture.AccountID
		generation         int64
		rule               string
		daysAgo, violating int
	}
	observe := func(o observation) {
		j := posture.RuleJudgement{Rule: posture.RuleID(o.rule)}
		for n := range o.violating {
			id := posture.EntityType("AWS.IAM.User").ID(o.account, "", o.rule+string(rune('a'+n)))
			j.Violating = append(j.Violating, posture.Raised{
				Finding: posture.Finding{Provider: posture.AWS, Object: id, Type: "AWS.IAM.User", Level: posture.LevelLow, Risk: posture.Risk{Score: 1}},
				Blob:    func() string { return "{}" },
			})
		}
		judgement := posture.Judgement{Account: o.account, Generation: o.generation, RulesAt: posture.AnyRules, At: now.AddDate(0, 0, -o.daysAgo), Rules: []posture.RuleJudgement{j}}
		if _, err := i.store.Observe(t.Context(), i.org, judgement); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "111111111111", "222222222222"
	observe(observation{account: first, generation: 1, rule: "aws-iam-root-mfa", daysAgo: 10, violating: 1})
	observe(observation{account: first, generation: 2, rule: "aws-iam-user-console-mfa", daysAgo: 8, violating: 2})
	observe(observation{account: first, generation: 3, rule: "aws-iam-root-mfa", daysAgo: 5, violating: 0})
	observe(observation{account: second, generation: 1, rule: "aws-s3-bucket-tls-only", daysAgo: 3, violating: 1})

	trend := func(in object) (violated, findings []float64) {
		t.Helper()
		in["interval"] = "day"
		got := i.want(200, "POST", "/v1/compliance-frameworks/cis-aws-5.0/posture/trend", in)
		if got.body["controls"].(float64) < 50 {
			t.Errorf("%v controls have rules", got.body["controls"])
		}
		all := results(got)
		if len(all) != 30 {
			t.Fatalf("%d days", len(all))
		}
		// 11 days ago is before the first observation. Each of the other days follows one of the four observations.
		for _, daysAgo := range []int{11, 9, 6, 4, 0} {
			day := all[29-daysAgo]
			sum := 0.0
			for _, n := range day["violatedBySection"].(object) {
				sum += n.(float64)
			}
			if sum != day["violatedControls"] {
				t.Errorf("%d days ago: sections %v, controls %v", daysAgo, day["violatedBySection"], day["violatedControls"])
			}
			violated, findings = append(violated, day["violatedControls"].(float64)), append(findings, day["openFindings"].(float64))
		}
		return violated, findings
	}
	violated, findings := trend(object{})
	if !slices.Equal(violated, []float64{0, 1, 2, 1, 2}) || !slices.Equal(findings, []float64{0, 1, 3, 2, 3}) {
		t.Errorf("all accounts: controls %v, findings %v", violated, findings)
	}
	if violated, _ := trend(object{"cloudAccountIds": []any{second}}); !slices.Equal(violated, []float64{0, 0, 0, 0, 1}) {
		t.Errorf("the second account: controls %v", violated)
	}
	i.want(400, "POST", "/v1/compliance-frameworks/cis-aws-5.0/posture/trend", object{"interval": "hour"})
	i.want(404, "POST", "/v1/compliance-frameworks/none/posture/trend", object{"interval": "day"})
}

// TestAssessmentsOfControls checks that a person can assess only controls that no rule
// checks, and that the assessment counts in all results.
func TestAssessmentsOfControls(t *testing.T) {
	t.Parallel()
	i := newInventory(t, dbtest.SQLite(t), 0, 0)
	const framework = "/v1/compliance-frameworks/cis-aws-5.0"
	// identity returns the first section, identity, and its control 1.1, which is about contact details.
	identity := func() (section, contact object) {
		t.Helper()
		got := i.want(200, "POST", framework+"/posture", nil)
		for _, c := range results(got) {
			if c["controlId"] == "1.1" {
				contact = c
			}
		}
		return got.body["sections"].([]any)[0].(object), contact
	}
	exported := func() (verdict string, inReport bool) {
		t.Helper()
		rows, err := csv.NewReader(strings.NewReader(i.want(200, "POST", framework+"/posture/export", object{}).text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if row[slices.Index(rows[0], "controlId")] == "1.1" {
				verdict = row[slices.Index(rows[0], "verdict")]
			}
		}
		// The report lists only the frameworks that have a result, with their versions.
		return verdict, strings.Contains(i.want(200, "POST", "/v2/findings/export", object{"format": "html"}).text, "5.0.0</td>")
	}
	if verdict, inReport := exported(); verdict != "no rule" || inReport {
		t.Errorf("before the assessment: %q, in the report: %t", verdict, inReport)
	}
	before, contact := identity()
	if contact["assessment"] != "manual" || contact["assessed"] != nil {
		t.Fatalf("control 1.1 is %v", contact)
	}
	const path = framework + "/controls/1.1/assessment"
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	i.want(200, "PUT", path, object{"verdict": "Violation", "reason": "no contact", "until": until})
	if verdict, inReport := exported(); verdict != "violation" || !inReport {
		t.Errorf("assessed as violation: %q, in the report: %t", verdict, inReport)
	}
	got := i.want(200, "PUT", path, object{"verdict": "Pass", "reason": " checked with finance ", "until": until})
	if got.body["reason"] != "checked with finance" || got.body["by"] == "" || got.body["inForce"] != true {
		t.Errorf("the assessment is %v", got.body)
	}
	if verdict, inReport := exported(); verdict != "pass" || !inReport {
		t.Errorf("assessed as pass: %q, in the report: %t", verdict, inReport)
	}
	after, contact := identity()
	if assessed, _ := contact["assessed"].(object); assessed["verdict"] != "Pass" {
		t.Errorf("control 1.1 is %v", contact)
	}
	if after["passing"] != before["passing"].(float64)+1 || after["manual"] != before["manual"].(float64)-1 || after["violating"] != before["violating"] {
		t.Errorf("the section was %v and is %v", before, after)
	}
	for _, bad := range []object{
		{"verdict": "Perhaps", "reason": "x"},
		{"verdict": "Pass", "reason": " "},
		{"verdict": "Pass"},
		{"verdict": "Pass", "reason": "x", "until": "2020-01-01T00:00:00Z"},
		{"verdict": "Pass", "reason": "x", "until": "tomorrow"},
		{"verdict": "Pass", "reason": strings.Repeat("x", 1001)},
	} {
		i.want(400, "PUT", path, bad)
	}
	pass := object{"verdict": "Pass", "reason": "x"}
	i.want(404, "PUT", framework+"/controls/99/assessment", pass)
	i.want(404, "PUT", "/v1/compliance-frameworks/none/controls/1.1/assessment", pass)
	i.want(409, "PUT", framework+"/controls/1.3/assessment", pass) // a rule checks it
	i.want(200, "DELETE", path, nil)
	i.want(404, "DELETE", path, nil)
	if again, _ := identity(); again["manual"] != before["manual"] {
		t.Errorf("after the assessment was deleted, the section is %v, want that of before: %v", again, before)
	}
}
