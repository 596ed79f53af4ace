package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"vigil/internal/posture"
	"vigil/internal/posture/export"
)

var now = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

func report() export.Report {
	framework := posture.Framework{ID: "cis-aws-3.0", Name: "CIS AWS", Version: "3.0.0", Controls: []posture.Control{{ID: "1.5", Title: "MFA"}, {ID: "2.1", Title: "Buckets"}, {ID: "9.9"}}}
	r := export.Report{Version: "1.2.3", At: now, Scope: "account 123456789012 <b>", Frameworks: map[string]posture.Framework{framework.ID: framework}, Rules: map[posture.RuleID]posture.Rule{
		"root-mfa": {
			ID: "root-mfa", Name: "Root has no second factor", DisplayName: "root-mfa", Description: "Anybody with the password is root & more.", SuggestedAction: "Enable it.",
			Level: posture.High, Category: "Identity", Controls: []string{"cis-aws-3.0_1.5"}, DocumentationLink: "https://docs.aws.amazon.com/x",
		},
		"bucket-open": {ID: "bucket-open", Name: "Bucket is public", Description: strings.Repeat("long ", 400), Level: posture.Med, Category: "Storage", Controls: []string{"cis-aws-3.0_2.1"}},
		"passing":     {ID: "passing", Name: "Nothing violates this", Level: posture.Low},
		"unknown":     {ID: "unknown", Name: "Not everything could be read", Level: posture.Low},
		"new":         {ID: "new", Name: "Not evaluated yet", Level: posture.Low},
	}}
	r.Verdicts = map[posture.RuleID]posture.ControlPosture{"root-mfa": {Violating: 1}, "bucket-open": {Violating: 2, Passing: 3}, "passing": {Passing: 4}, "unknown": {Unknown: 2}}
	r.Counts = export.Count(findings())
	r.Compliance = []export.Compliance{export.Comply(framework, r.Rules, r.Verdicts, nil)}
	return r
}

func findings() []posture.Finding {
	f := func(id, rule, kind, name string, level posture.FindingLevel) posture.Finding {
		t := posture.EntityType(kind)
		return posture.Finding{
			ID: posture.FindingID(id), Rule: posture.RuleID(rule), Account: "123456789012", Provider: t.Provider(), Object: t.ID("123456789012", "eu-west-1", name), Type: t,
			XID: "arn:aws:x:eu-west-1:123456789012:" + name, Name: name, Service: t.Service(), Region: "eu-west-1", Level: level, Status: posture.FindingOpen,
			Risk:    posture.Risk{Score: 55, Parts: []posture.RiskPart{{Name: "level", Points: 55, Why: "High"}}},
			Created: now.Add(-time.Hour), Updated: now, Tags: map[string]string{"env": "prod", "=cmd()": "x"},
		}
	}
	all := []posture.Finding{
		f("f1", "root-mfa", "AWS.IAM.User", `=SUM(1)"<script>alert(1)</script>`, posture.LevelHigh),
		f("f2", "bucket-open", "AWS.S3.Bucket", "ein eimer ünd/mehr", posture.LevelMedium),
		f("f3", "bucket-open", "AWS.S3.Bucket", "second", posture.LevelMedium),
		f("f4", "gone", "Azure.Storage.StorageAccount", "st", posture.LevelLow),
	}
	all[1].Suppression = &posture.Suppression{By: "ann", Reason: "known", Since: now}
	all[2].Status, all[2].Resolved, all[2].Region = posture.FindingResolved, now, posture.Global
	all[3].XID, all[3].Tags = "", nil
	return all
}

func write(t testing.TB, f export.Format, r export.Report, all []posture.Finding) string {
	t.Helper()
	var out bytes.Buffer
	w, err := export.New(&out, f, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range all {
		if err := w.Put(each); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type object = map[string]any

func parse[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func TestCSV(t *testing.T) {
	t.Parallel()
	rows, err := csv.NewReader(strings.NewReader(write(t, export.CSV, report(), findings()))).ReadAll()
	if err != nil || len(rows) != 5 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	name := slices.Index(rows[0], "objectName")
	if rows[1][name] != `'=SUM(1)"<script>alert(1)</script>` || rows[2][name] != "ein eimer ünd/mehr" || rows[2][slices.Index(rows[0], "isSuppressed")] != "true" {
		t.Errorf("rows %q", rows)
	}
	if rows, err := csv.NewReader(strings.NewReader(write(t, export.CSV, report(), nil))).ReadAll(); err != nil || len(rows) != 1 {
		t.Errorf("without findings: %v, %v", rows, err)
	}
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSuffix(write(t, export.Lines, report(), findings()), "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines", len(lines))
	}
	f := parse[object](t, lines[1])
	if f["id"] != "f2" || f["ruleName"] != "Bucket is public" || f["suppression"].(object)["reason"] != "known" || f["creationTime"] != "2026-11-16T11:00:00.000Z" {
		t.Errorf("line %v", f)
	}
}

func TestOCSFMatchesItsSchema(t *testing.T) {
	t.Parallel()
	events := parse[[]object](t, write(t, export.OCSF, report(), findings()))
	schema := compile(t, "testdata/ocsf-compliance-finding.schema.json")
	for i, e := range events {
		if err := schema.Validate(e); err != nil {
			t.Errorf("event %d: %v", i, err)
		}
		if e["type_uid"].(float64) != e["class_uid"].(float64)*100+e["activity_id"].(float64) {
			t.Errorf("event %d: type_uid %v", i, e["type_uid"])
		}
	}
	if status := events[1]["status"]; status != "Suppressed" {
		t.Errorf("a suppressed finding is %v", status)
	}
	if c := events[2]["compliance"].(object); c["status_id"] != 1.0 || events[2]["activity_id"] != 3.0 {
		t.Errorf("a resolved finding is %v", c)
	}
	if c := events[0]["compliance"].(object); fmt.Sprint(c["standards"], c["requirements"]) != "[CIS AWS 3.0.0] [cis-aws-3.0 1.5]" {
		t.Errorf("compliance %v", c)
	}
	if got := parse[[]object](t, write(t, export.OCSF, report(), nil)); len(got) != 0 {
		t.Errorf("without findings: %v", got)
	}
}

func TestSARIFMatchesItsSchema(t *testing.T) {
	t.Parallel()
	schema := compile(t, "testdata/sarif-2.1.0.schema.json")
	for _, all := range [][]posture.Finding{findings(), nil} {
		log := parse[object](t, write(t, export.SARIF, report(), all))
		if err := schema.Validate(log); err != nil {
			t.Error(err)
		}
		run := log["runs"].([]any)[0].(object)
		rules := run["tool"].(object)["driver"].(object)["rules"].([]any)
		results := run["results"].([]any)
		if len(results) != len(all) {
			t.Fatalf("%d results", len(results))
		}
		for _, each := range results {
			r := each.(object)
			if id := rules[int(r["ruleIndex"].(float64))].(object)["id"]; id != r["ruleId"] {
				t.Errorf("rule %v at the index of %v", id, r["ruleId"])
			}
		}
		if len(all) > 0 && (len(rules) != 3 || results[1].(object)["suppressions"] == nil) {
			t.Errorf("rules %v", rules)
		}
	}
}

// TestASFFMatchesItsConstraints checks the constraints of the Security Hub API; see
// docs.aws.amazon.com/securityhub/latest/userguide/asff-required-attributes.html
func TestASFFMatchesItsConstraints(t *testing.T) {
	t.Parallel()
	all := parse[[]object](t, write(t, export.ASFF, report(), findings()))
	if len(all) != 3 {
		t.Fatalf("%d findings; want only those of AWS", len(all))
	}
	date := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)
	for i, f := range all {
		for _, name := range []string{"SchemaVersion", "Id", "ProductArn", "GeneratorId", "AwsAccountId", "CreatedAt", "UpdatedAt", "Title", "Description"} {
			if text, ok := f[name].(string); !ok || text == "" {
				t.Errorf("finding %d: %s is %v", i, name, f[name])
			}
		}
		resources, _ := f["Resources"].([]any)
		label := f["Severity"].(object)["Label"].(string)
		switch {
		case f["SchemaVersion"] != "2018-10-08", len(f["Title"].(string)) > 256, len([]rune(f["Description"].(string))) > 1024:
			t.Errorf("finding %d: %v", i, f)
		case !date.MatchString(f["CreatedAt"].(string)), len(f["Types"].([]any)) == 0, len(resources) != 1:
			t.Errorf("finding %d: %v", i, f)
		case !slices.Contains([]string{"INFORMATIONAL", "LOW", "MEDIUM", "HIGH", "CRITICAL"}, label):
			t.Errorf("finding %d: severity %s", i, label)
		}
		if want := fmt.Sprintf("arn:aws:securityhub:%s:123456789012:product/123456789012/default", f["Region"]); f["ProductArn"] != want {
			t.Errorf("finding %d: product %v, want %s", i, f["ProductArn"], want)
		}
	}
	for i, want := range []string{"NEW", "SUPPRESSED", "RESOLVED"} {
		if got := all[i]["Workflow"].(object)["Status"]; got != want {
			t.Errorf("finding %d is %v, want %s", i, got, want)
		}
	}
	if all[2]["Region"] != "us-east-1" {
		t.Errorf("a finding without a region is in %v", all[2]["Region"])
	}
}

// TestASFFOmitsBlankTexts checks that blank texts are omitted: Security Hub rejects a
// finding with one.
func TestASFFOmitsBlankTexts(t *testing.T) {
	t.Parallel()
	const link = "https://example.com/x"
	for name, c := range map[string]struct {
		rule posture.Rule
		want string // the remediation
	}{
		"everything":                   {posture.Rule{SuggestedAction: "Enable it.", DocumentationLink: link}, `{"Recommendation":{"Text":"Enable it.","Url":"https://example.com/x"}}`},
		"no action":                    {posture.Rule{DocumentationLink: link}, `{"Recommendation":{"Url":"https://example.com/x"}}`},
		"a blank action":               {posture.Rule{Description: "\n", SuggestedAction: " \t", DocumentationLink: link}, `{"Recommendation":{"Url":"https://example.com/x"}}`},
		"an action after many spaces":  {posture.Rule{SuggestedAction: strings.Repeat(" ", 600) + "Enable it."}, `{"Recommendation":{"Text":"Enable it."}}`},
		"neither action nor reference": {posture.Rule{Description: " "}, "null"},
	} {
		r, f := report(), findings()[0]
		c.rule.ID, c.rule.Name = f.Rule, "Root has no second factor"
		r.Rules = map[posture.RuleID]posture.Rule{f.Rule: c.rule}
		got := parse[[]object](t, write(t, export.ASFF, r, []posture.Finding{f}))[0]
		remediation, err := json.Marshal(got["Remediation"])
		if err != nil || string(remediation) != c.want {
			t.Errorf("%s: remediation %s, want %s (%v)", name, remediation, c.want, err)
		}
		if got["Description"] != c.rule.Name {
			t.Errorf("%s: description %q", name, got["Description"])
		}
	}
}

// TestASFFTags checks that tags without a value, which AWS permits and Security Hub
// rejects, are omitted, and that of more than 50 tags the same 50 are sent each time.
func TestASFFTags(t *testing.T) {
	t.Parallel()
	many, first := map[string]string{"a00": " "}, object{}
	for n := range 70 {
		many[fmt.Sprintf("b%02d", n)] = "x"
		if n < 50 {
			first[fmt.Sprintf("b%02d", n)] = "x"
		}
	}
	for name, c := range map[string]struct {
		tags map[string]string
		want any
	}{
		"values":       {map[string]string{"env": "prod", "cost": "0"}, object{"env": "prod", "cost": "0"}},
		"blank values": {map[string]string{"env": "prod", "empty": "", "space": " \t\n"}, object{"env": "prod"}},
		"a blank name": {map[string]string{"env": "prod", " ": "x"}, object{"env": "prod"}},
		"only blanks":  {map[string]string{"empty": ""}, nil},
		"none":         {nil, nil},
		"too many":     {many, first},
	} {
		f := findings()[0]
		f.Tags = c.tags
		got := parse[[]object](t, write(t, export.ASFF, report(), []posture.Finding{f}))[0]["Resources"].([]any)[0].(object)
		if tags := got["Tags"]; !reflect.DeepEqual(tags, c.want) {
			t.Errorf("%s: tags %v, want %v", name, tags, c.want)
		}
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	var suites struct {
		Suite []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Class   string  `xml:"classname,attr"`
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
				Skipped *string `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(write(t, export.JUnit, report(), findings())), &suites); err != nil {
		t.Fatal(err)
	}
	s := suites.Suite[0]
	failed, skipped := 0, 0 // cases: four findings, and three rules without findings
	for _, c := range s.Cases {
		if c.Failure != nil {
			failed++
		}
		if c.Skipped != nil {
			skipped++
		}
	}
	if s.Tests != len(s.Cases) || s.Failures != failed || s.Skipped != skipped || failed != 4 || skipped != 2 || len(s.Cases) != 7 {
		t.Errorf("attributes say %d tests, %d failures, %d skipped; there are %d, %d and %d", s.Tests, s.Failures, s.Skipped, len(s.Cases), failed, skipped)
	}
	if !strings.Contains(s.Cases[0].Name, "<script>") {
		t.Errorf("name %q", s.Cases[0].Name)
	}
}

// TestJUnitSkipsViolatedRulesWithoutFindings checks that a rule whose findings a filter
// excludes is not a passed test.
func TestJUnitSkipsViolatedRulesWithoutFindings(t *testing.T) {
	t.Parallel()
	r := report()
	high := findings()[:1] // as with a filter on the level High
	r.Counts = export.Count(high)
	text := write(t, export.JUnit, r, high)
	for _, want := range []string{`tests="5" failures="1" skipped="3"`, `name="Bucket is public"><skipped message="2 violations are suppressed or excluded by the filters"`, `name="Nothing violates this"></testcase>`, `name="Not evaluated yet"><skipped message="no resource passed`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

func TestHTMLHasNoScripts(t *testing.T) {
	t.Parallel()
	text := write(t, export.HTML, report(), findings())
	// Without the parts that are valid in HTML only, the page is XML.
	d := xml.NewDecoder(strings.NewReader(regexp.MustCompile(`<!doctype html>|<meta [^>]*>|<br>`).ReplaceAllString(text, "")))
	tags := map[string]int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if start, ok := token.(xml.StartElement); ok {
			tags[start.Name.Local]++
			for _, a := range start.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" {
					t.Errorf("attribute %s of %s", a.Name.Local, start.Name.Local)
				}
			}
		}
	}
	if tags["script"]+tags["link"]+tags["img"] > 0 || tags["svg"] != 4 || tags["table"] != 3 {
		t.Errorf("tags %v", tags)
	}
	for _, part := range []string{"4 findings by level", "High: 1", "&lt;script&gt;", "CIS AWS 3.0.0", "@media print", "account 123456789012 &lt;b&gt;"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if strings.Contains(text, "ZgotmplZ") {
		t.Error("the template inserted a value in an unsafe context")
	}
}

func TestComply(t *testing.T) {
	t.Parallel()
	c := report().Compliance[0]
	if c.Violated != 2 || c.Unchecked != 1 || c.Pass+c.Unknown != 0 || c.Controls[0].Verdict != export.ControlViolation {
		t.Errorf("compliance = %+v, want 2 controls violated and 1 unchecked", c)
	}
	// want is the verdict on control 9.9, which has no rules, and how many controls are pass, violated, not applicable and unchecked.
	for said, want := range map[posture.AssessmentVerdict]string{
		posture.AssessedPass: "pass 1 2 0 0", posture.AssessedViolation: "violation 0 3 0 0", posture.AssessedNotApplicable: "not applicable 0 2 1 0", "": "no rule 0 2 0 1",
	} {
		r := report()
		// The assessment of 1.5 does not count, because that control has a rule.
		c := export.Comply(r.Frameworks["cis-aws-3.0"], r.Rules, r.Verdicts, map[string]posture.AssessmentVerdict{"9.9": said, "1.5": posture.AssessedPass})
		if got := fmt.Sprint(c.Controls[2].Verdict, " ", c.Pass, c.Violated, c.NotApplicable, c.Unchecked); c.Controls[0].Verdict != export.ControlViolation || c.Unknown != 0 || got != want {
			t.Errorf("assessed as %q: %s, want %s; %+v", said, got, want, c)
		}
	}
	for _, test := range []struct {
		p     posture.ControlPosture
		rules int
		want  string
	}{
		{posture.ControlPosture{}, 0, export.ControlUnchecked},
		{posture.ControlPosture{}, 1, export.ControlNotApplicable},
		{posture.ControlPosture{NotApplicable: 3}, 1, export.ControlNotApplicable},
		{posture.ControlPosture{NotApplicable: 3, Passing: 1}, 1, export.ControlPass},
		{posture.ControlPosture{Passing: 1, NotListed: 1}, 1, export.ControlUnknown},
		{posture.ControlPosture{NotListed: 1}, 1, export.ControlUnknown},
		{posture.ControlPosture{Passing: 1, Unknown: 1}, 1, export.ControlUnknown},
		{posture.ControlPosture{Violating: 1, Unknown: 1, Passing: 1}, 1, export.ControlViolation},
	} {
		if got := export.VerdictOf(test.p, test.rules, ""); got != test.want {
			t.Errorf("%+v of %d rules is %q, want %q", test.p, test.rules, got, test.want)
		}
	}
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats {
		if got, ok := export.FormatOf("dir/findings" + f.Suffix()); !ok || got != f || f.MediaType() == "" {
			t.Errorf("%s has the format %q", f.Suffix(), got)
		}
	}
	if _, ok := export.FormatOf("findings.pdf"); ok {
		t.Error("an unknown suffix has a format")
	}
	if _, err := export.New(io.Discard, "pdf", report()); err == nil {
		t.Error("New accepts an unknown format")
	}
}

// TestMemoryDoesNotGrowWithFindings writes many findings in every format and checks
// that the heap does not grow.
func TestMemoryDoesNotGrowWithFindings(t *testing.T) {
	few := findings()
	for _, f := range export.Formats {
		w, err := export.New(io.Discard, f, report())
		if err != nil {
			t.Fatal(err)
		}
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		put := func(n int) {
			for i := range n {
				each := few[i%len(few)]
				each.ID = posture.FindingID(fmt.Sprint(i))
				if err := w.Put(each); err != nil {
					t.Fatal(err)
				}
			}
		}
		put(100)
		before := heap()
		put(20_000)
		if after := heap(); after > before+1<<20 {
			t.Errorf("%s: %d bytes more after 20000 findings", f, after-before)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
