package catalog_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
)

const framework = `
id: house-1
name: House rules
version: "1"
published: 2026-01-02
author: us
url: https://example.com/house
description: What we want.
sections:
  - title: Doors
    controls:
      "2.10": Doors are locked
      "2.9": Windows are shut
`

const queueRule = `
id: aws-sqs-open
title: Queue is open
type: AWS.SQS.Queue
level: High
why: >
  Anybody may
  read it.
fix: Close it.
query: |
  g.V().hasLabel('AWS.SQS.Queue').has('policyIsPublic', true)
show: g.V().<entity_id_clause>.path()
controls:
  house-1: ["2.9", "2.10"]
unconfirmed:
  house-1: ["2.9"]
cases:
  - name: open
    entities: [{key: q, type: AWS.SQS.Queue, region: eu-west-1, properties: {policyIsPublic: true, ports: [80, 443]}}]
    violates: [q]
  - name: closed
    entities: [{key: q, type: AWS.SQS.Queue, properties: {policyIsPublic: false}}]
  - name: denied
    entities: [{key: q, type: AWS.SQS.Queue, unknown: [policyIsPublic]}]
    unknown: [q]
`

func load(rulePath, rule, fw string) (*catalog.Catalog, error) {
	return catalog.LoadWithCases(
		fstest.MapFS{rulePath: {Data: []byte(rule)}, "readme.md": {Data: []byte("not a rule")}},
		fstest.MapFS{"house-1.yaml": {Data: []byte(fw)}},
	)
}

func TestLoadReadsARuleAndItsFramework(t *testing.T) {
	t.Parallel()
	c, err := load("aws/sqs/open.yaml", queueRule, framework)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rules) != 1 || len(c.Frameworks) != 1 {
		t.Fatalf("%d rules and %d frameworks, want one of each", len(c.Rules), len(c.Frameworks))
	}
	r := c.Rules[0]
	got := []any{r.ID, r.Provider, r.Service, r.Level, r.Status, r.Source, r.Description, r.Controls, r.Unconfirmed, r.Type}
	want := []any{posture.RuleID("aws-sqs-open"), posture.AWS, "SQS", posture.High, posture.RuleEnabled, posture.Native, "Anybody may read it.",
		[]string{"house-1_2.10", "house-1_2.9"}, []string{"house-1_2.9"}, posture.EntityType("AWS.SQS.Queue")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
	controls := []posture.Control{
		{ID: "2.10", Title: "Doors are locked", Section: "Doors"}, {ID: "2.9", Title: "Windows are shut", Section: "Doors"},
	}
	if diff := cmp.Diff(controls, c.Frameworks[0].Controls); diff != "" {
		t.Errorf("controls in the order of the file (-want +got):\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ path, old, new, want string }{
		"an unknown key":             {"", "title:", "titel:", "field titel not found"},
		"the wrong folder":           {"aws/sns/open.yaml", "", "", "must be in aws/sqs"},
		"another id than the file":   {"aws/sqs/shut.yaml", "", "", "does not end with the name of the file"},
		"an unknown level":           {"", "level: High", "level: Critical", `level "Critical"`},
		"a query with an error":      {"", "hasLabel(", "hasLable(", "query:"},
		"a show query with an error": {"", ".path()", ".pth()", "show:"},
		"no place for the entity":    {"", "<entity_id_clause>.path()", "path()", "<entity_id_clause>"},
		"no reason":                  {"", "why: >\n  Anybody may\n  read it.", "", "are required"},
		"an unknown control":         {"", `["2.9", "2.10"]`, `["2.9", "2.11"]`, "control house-1_2.11 does not exist"},
		"unconfirmed but not listed": {"", `unconfirmed:` + "\n" + `  house-1: ["2.9"]`, "unconfirmed:\n  house-1: [\"7\"]", "unconfirmed"},
		"no violating case":          {"", "    violates: [q]\n", "", "violating, a passing and an unknown case"},
		"no passing case":            {"", "{policyIsPublic: false}}]", "{policyIsPublic: true}}]\n    violates: [q]", "a passing and an unknown case"},
		"no unknown case":            {"", "    unknown: [q]\n", "    violates: [q]\n", "an unknown case"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, rule := "aws/sqs/open.yaml", strings.Replace(queueRule, test.old, test.new, 1)
			if test.path != "" {
				path = test.path
			}
			if test.old != "" && rule == queueRule {
				t.Fatalf("the test changes nothing: %q is not in the rule", test.old)
			}
			_, err := load(path, rule, framework)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v; want one with %q and the file", err, test.want)
			}
		})
	}
	for name, test := range map[string]struct{ old, new, want string }{
		"another id than the file": {"id: house-1", "id: house-2", "is not the name of the file"},
		"no date":                  {"2026-01-02", "January", "is not a date"},
		"a control twice":          {`"2.9":`, `"2.10":`, "twice"},
		"a control without title":  {"Doors are locked", `""`, "no title"},
		"no author":                {"author: us", "", "are required"},
	} {
		t.Run("framework with "+name, func(t *testing.T) {
			t.Parallel()
			_, err := load("aws/sqs/open.yaml", queueRule, strings.Replace(framework, test.old, test.new, 1))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v; want one with %q", err, test.want)
			}
		})
	}
}

func TestCustomTableDoesNotReplaceATableOfTheProduct(t *testing.T) {
	t.Parallel()
	table := func(version string) fstest.MapFS {
		return fstest.MapFS{"tables/versions.yaml": {Data: []byte(`
title: Versions
source: https://example.com/versions
read: "2026-08-22"
versions: [{product: P, version: "` + version + `", endOfSupport: "2027-12-02"}]
`)}}
	}
	c, err := catalog.Load(table("1"), fstest.MapFS{}, table("2"))
	if want := "tables/versions.yaml: table versions exists already"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if len(c.Tables) != 1 || c.Tables[0].Rows[0].Version != "1" {
		t.Errorf("tables %+v, want the product's", c.Tables)
	}
}

func TestUndeclaredNamesOfOwnRules(t *testing.T) {
	t.Parallel()
	schema := catalog.Schema([]collect.Declaration{
		{Type: "AWS.SQS.Queue", Properties: []collect.Property{{Name: "policyIsPublic"}, {Name: "ports"}}}, {Type: "AWS.SNS.Topic"},
	})
	for name, test := range map[string]struct{ old, new, want string }{
		"nothing":                {},
		"a property":             {"has('policyIsPublic'", "has('isPublic'", "there is no property isPublic of [AWS.SQS.Queue]"},
		"another type":           {"hasLabel('AWS.SQS.Queue').has('policyIsPublic', true)", "hasLabel('AWS.SNS.Topic')", "the query finds [AWS.SNS.Topic], not AWS.SQS.Queue"},
		"a property to show":     {".path()", ".has('isOpen', true)", "show: there is no property isOpen of [AWS.SQS.Queue]"},
		"a property in the case": {"ports:", "port:", `case "open": there is no property port of AWS.SQS.Queue`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := load("aws/sqs/open.yaml", strings.Replace(queueRule, test.old, test.new, 1), framework)
			if err != nil {
				t.Fatal(err)
			}
			c.Rules[0].Own = true
			got := ""
			if err := c.CheckOwn(schema); err != nil {
				// Only custom rules have a line. This one was loaded as a rule of the product.
				_, got, _ = strings.Cut(err.Error(), "open.yaml: line 0: ")
			}
			// Further messages may follow.
			if got != test.want && !strings.HasPrefix(got, test.want+"\n") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCasesBuildEntitiesAsCollectorsDo(t *testing.T) {
	t.Parallel()
	c, err := load("aws/sqs/open.yaml", queueRule, framework)
	if err != nil {
		t.Fatal(err)
	}
	entities, ids, err := c.Rules[0].Cases[0].Build()
	if err != nil {
		t.Fatal(err)
	}
	want := []posture.Entity{{
		ID: "AWS.SQS.123456789012.eu-west-1.Queue.q", Type: "AWS.SQS.Queue", Name: "q", XID: "xid:q", Account: "123456789012", Provider: posture.AWS,
		Region: "eu-west-1", Service: "SQS", Created: catalog.CaseTime, Updated: catalog.CaseTime,
		Properties: []posture.Property{posture.Flag("policyIsPublic", true), posture.Number("ports", 80), posture.Number("ports", 443)},
	}}
	if diff := cmp.Diff(want, entities); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if ids["q"] != want[0].ID {
		t.Errorf("q is %s", ids["q"])
	}
	for name, bad := range map[string]catalog.Case{
		"an edge to nowhere": {Entities: []catalog.Entity{{Key: "a", Type: "AWS.SQS.Queue", Edges: []catalog.Edge{{Label: "USES", To: "b"}}}}},
		"a key twice":        {Entities: []catalog.Entity{{Key: "a", Type: "AWS.SQS.Queue"}, {Key: "a", Type: "AWS.SQS.Queue"}}},
		"a wrong name":       {Entities: []catalog.Entity{{Key: "a", Type: "AWS.SQS.Queue"}}, Violates: []string{"b"}},
	} {
		if _, _, err := bad.Build(); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func TestFrameworksOfTheProduct(t *testing.T) {
	t.Parallel()
	type size struct {
		ID               string
		Controls, Manual int
	}
	var got []size
	for _, f := range product(t).Frameworks {
		s := size{ID: f.ID, Controls: len(f.Controls)}
		for _, c := range f.Controls {
			if c.Manual {
				s.Manual++
			}
		}
		got = append(got, s)
	}
	// The numbers of controls of CIS are those of the published editions.
	want := []size{
		{"aws-fsbp-1.0", 344, 0}, {"cis-aws-1.4", 58, 7}, {"cis-aws-3.0", 62, 8}, {"cis-aws-5.0", 63, 28},
		{"cis-aws-7.0", 70, 36}, {"cis-azure-2.0", 151, 74}, {"cis-azure-3.0", 159, 60}, {"cis-gcp-2.0", 84, 11},
		{"cis-gcp-3.0", 84, 12}, {"hipaa-45cfr164", 27, 0}, {"iso-27001-2022", 30, 0}, {"nist-800-53-r5", 47, 0},
		{"nist-csf-1.1", 33, 0}, {"nist-csf-2.0", 29, 0}, {"pci-dss-4.0", 44, 0}, {"soc2-tsc-2017", 19, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("frameworks (-want +got):\n%s", diff)
	}
}

// newer is an edition that follows the house rules.
const newer = `
id: house-2
name: House rules
version: "2"
published: 2026-02-02
author: us
url: https://example.com/house
description: What we want now.
source: Our own list.
follows: house-1
manual: ["1"]
sections:
  - title: Doors
    controls:
      "1": Somebody looks at the doors
      "2": {title: Doors are locked, was: "2.10"}
      "3": {title: Queues are closed, rules: [aws-sqs-open]}
`

// newest follows the newer edition.
const newest = `
id: house-3
name: House rules
version: "3"
published: 2026-03-03
author: us
url: https://example.com/house
description: What we want tomorrow.
source: Our own list.
follows: house-2
sections:
  - title: Doors
    controls:
      "9": {title: Doors are locked, was: "2"}
`

func loadEditions(newer, newest string) (*catalog.Catalog, error) {
	return catalog.LoadWithCases(fstest.MapFS{"aws/sqs/open.yaml": {Data: []byte(queueRule)}}, fstest.MapFS{
		"house-1.yaml": {Data: []byte(framework)}, "house-2.yaml": {Data: []byte(newer)}, "house-3.yaml": {Data: []byte(newest)},
	})
}

func TestEditionsInheritTheRulesOfThePreviousEdition(t *testing.T) {
	t.Parallel()
	c, err := loadEditions(newer, newest)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"house-1_2.10", "house-1_2.9", "house-2_2", "house-2_3", "house-3_9"}
	if diff := cmp.Diff(want, c.Rules[0].Controls); diff != "" {
		t.Errorf("controls of the rule (-want +got):\n%s", diff)
	}
	controls := []posture.Control{
		{ID: "1", Title: "Somebody looks at the doors", Section: "Doors", Manual: true}, {ID: "2", Title: "Doors are locked", Section: "Doors"},
		{ID: "3", Title: "Queues are closed", Section: "Doors"},
	}
	if diff := cmp.Diff(controls, c.Frameworks[1].Controls); diff != "" {
		t.Errorf("controls of the newer edition (-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct{ old, new, want string }{
		"a predecessor that is not there": {`was: "2.10"`, `was: "2.11"`, "was house-1_2.11, which does not exist"},
		"no edition to follow":            {"follows: house-1\n", "", "the previous edition"},
		"a rule that is not there":        {"aws-sqs-open", "aws-sqs-shut", "names the rule aws-sqs-shut"},
		"a member that is not there":      {"rules:", "rule:", "has no member rule"},
		"an unknown manual control":       {`manual: ["1"]`, `manual: ["7"]`, "control 7 is manual"},
		"no source":                       {"source: Our own list.\n", "", "source is required"},
	} {
		changed := strings.Replace(newer, test.old, test.new, 1)
		if _, err := loadEditions(changed, newest); changed == newer || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v; want one with %q", name, err, test.want)
		}
	}
}
