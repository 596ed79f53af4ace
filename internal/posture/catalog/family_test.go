package catalog_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"vigil/internal/posture/catalog"
)

// family loads a file with rules about queues, one for each member.
func family(members string) (*catalog.Catalog, error) {
	return catalog.LoadWithCases(fstest.MapFS{"aws/sqs/queue-family.yaml": {Data: []byte(members + `
---
id: aws-sqs-${name}
title: Queue ${name}
type: AWS.SQS.Queue
level: Low
query: g.V().hasLabel('AWS.SQS.Queue').has('kmsMasterKeyId', '${value}')
show: g.V().<entity_id_clause>.path()
why: For a test.
fix: Nothing.
link: https://example.com
controls: {own: ["1"]}
cases:
  - {name: wrong, entities: [{key: q, type: AWS.SQS.Queue, properties: {kmsMasterKeyId: "${value}"}}], violates: [q]}
  - {name: right, entities: [{key: q, type: AWS.SQS.Queue}]}
  - {name: unknown, entities: [{key: q, type: AWS.SQS.Queue, unknown: [kmsMasterKeyId]}], unknown: [q]}
`)}}, fstest.MapFS{"own.yaml": {Data: []byte("id: own\nname: Own\nversion: \"1\"\npublished: 2026-01-01\nauthor: us\nurl: https://example.com\ndescription: Ours.\nsections: [{title: All, controls: {\"1\": One}}]\n")}})
}

func TestAFamilyIsARuleForEachMember(t *testing.T) {
	t.Parallel()
	c, err := family("members:\n  - {name: one, value: a}\n  - {name: two, value: 2}")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rules) != 2 || c.Rules[1].ID != "aws-sqs-two" {
		t.Fatalf("got %d rules, want aws-sqs-one and aws-sqs-two", len(c.Rules))
	}
	if got, want := c.Rules[1].Query.Text, "g.V().hasLabel('AWS.SQS.Queue').has('kmsMasterKeyId', '2')"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(c.Rules[0].Cases) != 3 {
		t.Errorf("got %d cases, want 3", len(c.Rules[0].Cases))
	}
}

func TestWrongFamiliesAreRefused(t *testing.T) {
	t.Parallel()
	for members, want := range map[string]string{
		"members: []":                               "must list its members",
		"members: [{value: a}]":                     "it has no name",
		"members: [{name: a, value: b}]\nmore: 1":   "field more not found",
		"members: [{name: \"it's\", value: \"'\"}]": "member it's: line 7: query", // the quote breaks the query
	} {
		if _, err := family(members); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", members, err, want)
		}
	}
}
