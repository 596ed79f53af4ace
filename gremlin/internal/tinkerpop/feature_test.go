package tinkerpop

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const example = `# a comment
@StepClassMap @StepVertex
Feature: Step - out()

  @MultiProperties
  Scenario:  first
    Given the empty graph
    And the graph initializer of
      """
      g.addV("person").
        property("name", "marko")
      """
    And using the parameter xx1 defined as "l[\"a\",b]"
    And using the side effect s defined as "d[1].i"
    And the traversal of
      """
      g.V(xx1)
      """
    When iterated to list
    Then the result should be unordered
      | result |
      | m[{"a":"m[{\\"b\\":\\"c\\"}]"}] |
      | v[marko] |
    And the result should have a count of 2

  Scenario: second
    Given the modern graph
    And the traversal of
      """
      g.V().drop()
      """
    When iterated next
    Then the traversal will raise an error with message containing text of "no \"drop\""
    And the graph should return 6 for count of "g.V()"
`

func TestReadFeature(t *testing.T) {
	t.Parallel()
	got, err := readFeature("map/Out.feature", strings.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	want := []Scenario{{
		ID: "map/Out.feature#first", Tags: []string{"@StepClassMap", "@StepVertex", "@MultiProperties"}, Graph: "empty",
		Setup:  "g.addV(\"person\").\n  property(\"name\", \"marko\")",
		Params: [][2]string{{"xx1", `l["a",b]`}}, SideEffects: [][2]string{{"s", "d[1].i"}}, Gremlin: "g.V(xx1)", When: ToList,
		Expect: Expectation{
			Kind: "unordered", Header: "result", Values: []string{`m[{"a":"m[{\"b\":\"c\"}]"}]`, "v[marko]"},
			Also: []Expectation{{Kind: "count", Count: 2}},
		},
	}, {
		ID: "map/Out.feature#second", Tags: []string{"@StepClassMap", "@StepVertex"}, Graph: "modern", Gremlin: "g.V().drop()", When: Next,
		Expect: Expectation{Kind: "error", Match: "containing", Message: `no "drop"`}, LeftOut: "it changes the graph",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMalformedFeatures(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a step of unknown form": "Scenario: x\nThen the result should be wonderful\n",
		"a step of no scenario":  "Given the modern graph\n",
		"quotes without an end":  "Scenario: x\nGiven the traversal of\n\"\"\"\ng.V()\n",
		"quotes of no step":      "\"\"\"\ng.V()\n\"\"\"\n",
		"no table":               "Scenario: x\nThen the result should be ordered\n",
		"two columns":            "Scenario: x\nThen the result should be ordered\n| a |\n| b | c |\n",
		"an unknown keyword":     "Scenario Outline: x\n",
	} {
		if all, err := readFeature("x.feature", strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %+v", name, all)
		}
	}
}
