package suite

import (
	"fmt"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/tinkerpop"
	"vigil/gremlin/internal/value"
)

// check compares results with an expectation and describes the difference, "" if there is none.
func (parser cellParser) check(e tinkerpop.Expectation, results []graph.Value, err error) string {
	if e.Kind == "error" {
		return checkError(e, err)
	}
	if err != nil {
		return "the query failed"
	}
	switch e.Kind {
	case "empty":
		if len(results) > 0 {
			return fmt.Sprintf("%d results instead of none", len(results))
		}
		return ""
	case "count":
		if len(results) != e.Count {
			return fmt.Sprintf("%d results instead of %d", len(results), e.Count)
		}
		return ""
	case "tree":
		return parser.checkTree(e.Values, results)
	}
	want := make([]graph.Value, len(e.Values))
	for i, text := range e.Values {
		if want[i], err = parser.cell(text); err != nil {
			return "malformed expectation: " + err.Error()
		}
	}
	if e.Kind == "subgraph" {
		return checkSubgraph(e.Header, want, results)
	}
	return parser.checkValues(e.Kind, want, results)
}

func (parser cellParser) checkValues(kind string, want, results []graph.Value) string {
	switch kind {
	case "ordered":
		if !slices.EqualFunc(want, results, parser.equalValue) {
			return "the results or their order differ"
		}
	case "unordered":
		missing, surplus := parser.differences(want, results)
		if len(missing)+len(surplus) > 0 {
			return fmt.Sprintf("missing %v, surplus %v", parser.describeAll(missing), parser.describeAll(surplus))
		}
	case "of":
		for _, r := range results {
			if !slices.ContainsFunc(want, func(v graph.Value) bool { return parser.equalValue(v, r) }) {
				return parser.describe(r) + " is not one of the expected results"
			}
		}
	default:
		return "unknown kind of expectation " + kind
	}
	return ""
}

func checkError(e tinkerpop.Expectation, err error) string {
	if err == nil {
		return "no error"
	}
	have, want := strings.ToLower(err.Error()), strings.ToLower(e.Message)
	ok := strings.Contains(have, want) // for "containing", and for any error: the message is then empty
	switch e.Match {
	case "starting":
		ok = strings.HasPrefix(have, want)
	case "ending":
		ok = strings.HasSuffix(have, want)
	}
	if !ok {
		return fmt.Sprintf("the error does not match %s %q", e.Match, e.Message)
	}
	return ""
}

func checkSubgraph(header string, want, results []graph.Value) string {
	if len(results) != 1 {
		return "the result is not a subgraph"
	}
	s, ok := value.As[*value.Subgraph](results[0])
	if !ok {
		return "the result is not a subgraph"
	}
	got := slices.Clone(s.Edges)
	if header == "vertices" {
		got = slices.Clone(s.Vertices)
	}
	slices.Sort(got)
	if !slices.Equal(handles(want), got) {
		return fmt.Sprintf("%d %s instead of %d, or different ones", len(got), header, len(want))
	}
	return ""
}

// node is a line of an expected tree.
type node struct {
	key      graph.Value
	children []*node
}

// checkTree compares a tree with lines such as "   |--v[marko]", indented by
// three spaces per level.
func (parser cellParser) checkTree(lines []string, results []graph.Value) string {
	root := &node{}
	path := []*node{root}
	for _, line := range lines {
		spaces, text, ok := strings.Cut(line, "|--")
		level := len(spaces) / 3
		if !ok || level >= len(path) {
			return "malformed expectation: " + line
		}
		key, err := parser.cell(text)
		if err != nil {
			return "malformed expectation: " + err.Error()
		}
		n := &node{key: key}
		path[level].children = append(path[level].children, n)
		path = append(path[:level+1], n)
	}
	if len(results) != 1 {
		return fmt.Sprintf("%d results instead of one tree", len(results))
	}
	t, ok := value.As[*value.Tree](results[0])
	if !ok {
		return "the result is not a tree"
	}
	if !parser.sameTree(root, t) {
		return "another tree"
	}
	return ""
}

func (parser cellParser) sameTree(want *node, got *value.Tree) bool {
	if len(want.children) != got.Len() {
		return false
	}
	for _, c := range want.children {
		found := false
		for i := range got.Len() {
			found = found || parser.equalValue(c.key, got.Key(i)) && parser.sameTree(c, got.Sub(i))
		}
		if !found {
			return false
		}
	}
	return true
}
