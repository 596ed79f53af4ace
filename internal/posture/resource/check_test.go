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
	List: map[string]ListFunction{
		"test.list":   {Apply: noItems},
		"test.readsB": {Reads: []posture.EntityType{"AWS.Test.B"}, Apply: noItems},
	},
}

func noItems(context.Context, Caller, []Item) ([]Item, error) { return nil, nil }

// A list that depends on itself would be expanded without end.
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

// One list may be read over two ways.
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
		"list: [{call: a.List}]\nget: {call: a.Get, one: true}":                                           "line 6: get: it may have only one of call, one and function",
		"list: [{call: a.List}]\nget: {from: AWS.Test.A}":                                                 "line 6: get: it reads one resource, so it cannot have from or batch",
		"list: [{call: a.List}]\nget: {batch: {of: x, size: 1}}":                                          "line 6: get: it reads one resource, so it cannot have from or batch",
		"list: [{call: a.List}, {items: Parts}]\nget: {input: {Name: $name}}":                             "line 6: get needs a call or function, because the last stage of the list has no call",
		"list: [{call: a.List}, {function: test.list}]\nget: {input: {Name: $name}}":                      "line 6: get needs a call or function, because the last stage of the list has no call",
		"list: [{call: a.List}, {items: Parts, batch: {of: Name, size: 0}}]":                              "line 5: list stage 2: a batch needs a call, size and of",
		"list: [{call: a.List}, {items: Parts, batch: {of: Name, size: 9}}]":                              "line 5: list stage 2: a batch needs a call, size and of",
		"list: [{call: a.List}, {items: Parts}]\nget: {one: true}":                                        "",
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
