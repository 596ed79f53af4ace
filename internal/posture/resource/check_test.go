package resource

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"vigil/internal/posture"
)

// checkFunctions are the functions that the declarations of these tests name.
var checkFunctions = Functions{
	Derive: map[string]Function{
		"test.flags": {Properties: []Property{{Name: "derived", Kind: Flag}}},
		"test.edges": {Edges: []Edge{{Label: "E"}}},
		"gcp.policy": {Properties: []Property{{Name: "derived", Kind: Flag}}},
	},
	List: map[string]ListFunction{
		"test.list":   {Apply: noItems},
		"test.readsB": {Reads: []posture.EntityType{"AWS.Test.B"}, Apply: noItems},
	},
}

func noItems(context.Context, Caller, []Item) ([]Item, error) { return nil, nil }

// TestListThatDependsOnItself checks that such a list is refused: it would be expanded without end.
func TestListThatDependsOnItself(t *testing.T) {
	t.Parallel()
	aws := func(name, list string) string {
		return fmt.Sprintf("type: AWS.Test.%s\ndoc: It.\nscope: region\nname: Name\nlist: [%s]\n", name, list)
	}
	azure := func(name, arm, in string) string {
		return fmt.Sprintf("type: Azure.Test.%s\ndoc: It.\narm: %s@1\nin: Azure.Test.%s\n", name, arm, in)
	}
	for name, test := range map[string]struct {
		declarations []string
		want         []string
	}{
		"from itself": {
			[]string{aws("A", "{from: AWS.Test.A}")},
			[]string{"0.yaml: line 5: its list depends on itself: AWS.Test.A, AWS.Test.A"},
		},
		"from each other": {
			// C reads a list of the cycle, but its own list is not in the cycle, so no error is about C.
			[]string{aws("A", "{from: AWS.Test.B}"), aws("B", "{from: AWS.Test.A}, {items: Parts}"), aws("C", "{from: AWS.Test.A}")},
			[]string{"0.yaml: line 5: its list depends on itself: AWS.Test.A, AWS.Test.B, AWS.Test.A", "1.yaml: line 5: its list depends on itself: AWS.Test.B, AWS.Test.A, AWS.Test.B"},
		},
		"a function that reads it": {
			[]string{aws("B", "{call: a.List}, {function: test.readsB}")},
			[]string{"0.yaml: line 5: its list depends on itself: AWS.Test.B, AWS.Test.B"},
		},
		"in itself": {
			[]string{azure("A", "Test/a", "A")},
			[]string{"0.yaml: line 4: its list depends on itself: Azure.Test.A, Azure.Test.A"},
		},
		"in each other": {
			[]string{azure("A", "Test/a", "B"), azure("B", "Test/a", "A")},
			[]string{"0.yaml: line 4: its list depends on itself: Azure.Test.A, Azure.Test.B, Azure.Test.A", "1.yaml: line 4: "},
		},
	} {
		_, err := loadWith(checkFunctions, test.declarations...)
		if err == nil || strings.Count(err.Error(), "depends on itself") != len(test.want) {
			t.Errorf("%s: %v, want %d errors", name, err, len(test.want))
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// TestListThatIsReadTwice checks that a list may depend on another in two ways: A reads B by from and by a function.
func TestListThatIsReadTwice(t *testing.T) {
	t.Parallel()
	const rest = "doc: It.\nscope: region\nname: Name\n"
	_, err := loadWith(checkFunctions,
		"type: AWS.Test.A\n"+rest+"list: [{from: AWS.Test.B}, {function: test.readsB}]\n", "type: AWS.Test.B\n"+rest+"list: [{call: a.List}]\n")
	if err != nil {
		t.Error(err)
	}
}

// TestInvalidStages checks the stages of the list and get.
func TestInvalidStages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"list: [{call: a.List}]\nget: {function: unknown}":                                                "line 6: get: there is no list function unknown",
		"list: [{call: a.List}]\nget: {call: 'a/${'}":                                                     "line 6: get: call \"a/${\" is not a valid template",
		"list: [{call: a.List}]\nget: {call: a.Get, nameOnly: true}":                                      "line 6: get: it may have only one of call, nameOnly and function",
		"list: [{call: a.List}]\nget: {single: true}":                                                     "line 6: get: it reads one resource by its name, so it cannot have from, single or batch",
		"list: [{nameOnly: true}]":                                                                        "line 5: list stage 1: only get may have nameOnly",
		"list: [{call: a.List}]\nget: {from: AWS.Test.A}":                                                 "line 6: get: it reads one resource by its name, so it cannot have from, single or batch",
		"list: [{call: a.List}]\nget: {batch: {of: x, size: 1}}":                                          "line 6: get: it reads one resource by its name, so it cannot have from, single or batch",
		"list: [{call: a.List}, {items: Parts}]\nget: {input: {Name: $name}}":                             "line 6: get needs a call or function, because the last stage of the list has no call",
		"list: [{call: a.List}, {function: test.list}]\nget: {input: {Name: $name}}":                      "line 6: get needs a call or function, because the last stage of the list has no call",
		"list: [{call: a.List}, {items: Parts, batch: {of: Name, size: 0}}]":                              "line 5: list stage 2: a batch needs a call, size and of",
		"list: [{call: a.List}, {items: Parts, batch: {of: Name, size: 9}}]":                              "line 5: list stage 2: a batch needs a call, size and of",
		"list: [{call: a.List}, {items: Parts}]\nget: {nameOnly: true}":                                   "",
		"list: [{call: a.List}, {items: Parts}]\nget: {function: test.list}":                              "",
		"list: [{call: a.List}, {items: Parts}]\nget: {call: a.Get}":                                      "",
		"list: [{call: a.List}, {call: a.More, batch: {of: Name, size: 9}}]\nget: {input: {Name: $name}}": "",
	} {
		_, err := loadWith(checkFunctions, "type: AWS.Test.A\ndoc: It.\nscope: region\nname: Name\n"+text+"\n")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestUnnamedEvents declares events that do not name the resource.
func TestUnnamedEvents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"namedInEvents: id\nreadAllAfter: [Close]\n":   "",
		"namedInEvents: id\nreadAllAfter: [Destroy]\n": "line 8: readAllAfter: Destroy is not in events",
		"readAllAfter: [Close]\n":                      "line 7: readAllAfter needs namedInEvents",
	} {
		_, err := loadWith(checkFunctions, "type: AWS.Test.A\ndoc: It.\nscope: region\nname: Name\nlist: [{call: a.List}]\nevents: {a: [Open, Close]}\n"+text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestDuplicateNames declares one name twice.
func TestDuplicateNames(t *testing.T) {
	t.Parallel()
	const aws, azure, gcp = "type: AWS.Test.A\nscope: region\nname: Name\nlist: [{call: a.List}]\n", "type: Azure.Test.A\narm: Test/a@1\n", "type: GCP.Test.A\ngoogle: a/v1/projects/{project}/b/{name}\n"
	for text, want := range map[string]string{
		aws + "properties:\n  p: {at: a, doc: It.}\n  p: {at: b, doc: It.}\n":                                                      "line 7: p is declared twice, first in line 6",
		aws + "edges:\n  E: {to: AWS.Test.A, ref: a, doc: It.}\n  E: {to: AWS.Test.A, ref: a, doc: It.}\n":                         "line 7: E is declared twice, first in line 6",
		aws + "calls:\n  - {call: a.B, properties: {p: {at: a, doc: It.}, p: {at: a, doc: It.}}}\n":                                "line 6: p is declared twice, first in line 6",
		aws + "calls:\n  - {call: a.B, when: {p: x, p: y}}\n":                                                                      "line 6: p is declared twice, first in line 6",
		aws + "events: {s3: [A], s3: [B]}\n":                                                                                       "line 5: s3 is declared twice",
		aws + "get: {input: {Name: $name, Name: x}}\n":                                                                             "line 5: Name is declared twice",
		aws + "properties: {derived: {at: a, doc: It.}}\nderive: [test.flags]\n":                                                   "line 6: derived is declared twice: in the list and in test.flags",
		aws + "calls:\n  - {call: a.B, properties: {derived: {at: a, doc: It.}}, derive: [test.flags]}\n":                          "line 6: derived is declared twice: in a.B and in test.flags",
		aws + "properties: {p: {at: a, doc: It.}}\ncalls:\n  - {call: a.B, properties: {p: {at: a, doc: It.}}}\n":                  "line 7: p is declared twice: in the list and in a.B",
		aws + "tags: a\ncalls:\n  - {call: a.B, tags: a}\n":                                                                        "line 7: TAGS is declared twice: in the list and in a.B",
		azure + "identity: true\nproperties: {identityType: {at: a, doc: It.}}\n":                                                  "line 4: identityType is declared twice in the list",
		gcp + "policy: true\nproperties: {derived: {at: a, doc: It.}}\n":                                                           "line 4: derived is declared twice: in the list and in gcp.policy",
		aws + "edges: {E: {to: AWS.Test.A, ref: a, doc: It.}}\nderive: [test.flags]\ncalls: [{call: a.B, derive: [test.edges]}]\n": "", // edges of one label may come from several answers
	} {
		_, err := loadWith(checkFunctions, text+"doc: It.\n")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestVariablesInNamesOfAPIs checks that names and versions of APIs have no variables: Load makes them parts of templates.
func TestVariablesInNamesOfAPIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"type: Azure.Test.A\narm: Test/a@$x\n":                                               "line 2: arm \"Test/a@$x\" cannot contain variables",
		"type: Azure.Test.A\narm: Test/a@1\ncalls:\n  - {call: '/b/${c@$x}'}\n":              "/b/${c lacks the version of the API", // a text after @ that has a variable is no version
		"type: GCP.Test.A\ngoogle: compute/v1/projects/{project}/global/$x/{name}\n":         "line 2: google \"compute/v1/projects/{project}/global/$x/{name}\" cannot contain variables",
		"type: GCP.Test.A\ngoogle: a/v1/projects/{project}/locations/{location}/$x/{name}\n": "cannot contain variables",
	} {
		_, err := load(text + "doc: It.\n")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
