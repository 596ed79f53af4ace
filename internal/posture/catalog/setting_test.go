package catalog_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
)

// settings loads a file with one rule about a queue, which has the given conditions.
func settings(conditions string) (*catalog.Catalog, error) {
	return catalog.LoadWithCases(fstest.MapFS{"aws/sqs/settings.yaml": {Data: []byte(`
settings:
  - id: aws-sqs-test
    title: A test
    type: AWS.SQS.Queue
    level: Low
` + conditions + `
    why: For a test.
    fix: Nothing.
    link: https://example.com
`)}}, fstest.MapFS{})
}

func TestSettingsBecomeQueries(t *testing.T) {
	t.Parallel()
	for conditions, want := range map[string]string{
		"    wrong: {fifoQueue: false}":                                   ".has('fifoQueue', false)",
		"    wrong: {a: x}\n    right: {a: y}":                            ".has('a', 'x')",
		"    wrong: {a: [x, y]}\n    right: {a: z}":                       ".has('a', within('x', 'y'))",
		"    wrong: {a: absent}":                                          ".hasNot('a')",
		"    wrong: {a: present}":                                         ".has('a')",
		"    wrong: {a: {not: [x]}}":                                      ".has('a', without('x'))",
		"    wrong: {a: {lacks: [x, y]}}":                                 ".not(has('a', within('x', 'y')))",
		"    wrong: {a: {begins: x}}\n    right: {a: y}":                  ".has('a', startingWith('x'))",
		"    wrong: {a: {below: 7}}":                                      ".has('a', lt(7))",
		"    wrong: {a: {above: 90}}":                                     ".has('a', gt(90))",
		"    about: {b: &low {below: 7}}\n    wrong: {a: *low}":           ".has('b', lt(7)).as('about').has('a', lt(7))", // a YAML alias
		"    wrong: {a: true, b: absent}":                                 ".has('a', true).hasNot('b')",
		"    about: {c: x, FAILS_TO: absent}\n    wrong: {a: {below: 1}}": ".has('c', 'x').not(out('FAILS_TO')).as('about').has('a', lt(1))",
	} {
		c, err := settings(conditions)
		if err != nil {
			t.Errorf("%s: %v", conditions, err)
			continue
		}
		if got, want := c.Rules[0].Query.Text, "g.V().hasLabel('AWS.SQS.Queue')"+want; got != want {
			t.Errorf("%s: got %s, want %s", conditions, got, want)
		}
		if n := len(c.Rules[0].Cases); n < 4 {
			t.Errorf("%s: %d cases, want 4 or more", conditions, n)
		}
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for conditions, want := range map[string]string{
		"    right: {a: x}":                    "wrong is required: the values that violate the rule",
		"    wrong: {a: x}":                    "right must contain a value of a that passes",
		"    wrong: {a: [x]}":                  "right must contain a value of a that passes",
		"    wrong: {a: []}":                   "the list of values is empty",
		"    wrong: {a: {over: 3}}":            "none of not, lacks, begins, below and above",
		"    wrong: {a: {above: 1, below: 9}}": "must be exactly one of not, lacks, begins, below and above",
		"    wrong: {a: {below: 9, over: 1}}":  "must be exactly one of not, lacks, begins, below and above",
		"    wrong: {a: 1.5}":                  "neither a text, a whole number nor a boolean",
		"    wrong: {a: \"it's\"}":             "has a quote",
		"    wrong: {FAILS_TO: present}":       "an edge can only be absent",
		"    wrong: [a]":                       "conditions are a map of properties",
		"    wrong: {a: true}\n    wrung: 1":   "field wrung not found",
	} {
		if _, err := settings(conditions); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", conditions, err, want)
		}
	}
}

func TestRulesHaveTheEventsOfTheirTypes(t *testing.T) {
	t.Parallel()
	c, err := settings("    wrong: {fifoQueue: false}")
	if err != nil {
		t.Fatal(err)
	}
	declared := []collect.Declaration{{
		Type: "AWS.SQS.Queue", Properties: []collect.Property{{Name: "fifoQueue"}},
		Events: []collect.Event{{Source: "sqs.amazonaws.com", Names: []string{"SetQueueAttributes", "CreateQueue"}}},
	}}
	if c, err = c.WithTriggers(declared, catalog.Schema(declared)); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"sqs.amazonaws.com": {"CreateQueue", "SetQueueAttributes"}}
	if diff := cmp.Diff(want, c.Rules[0].Triggers); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
	}
}
