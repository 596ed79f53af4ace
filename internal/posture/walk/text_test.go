package walk

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/gctune"
)

// newBudget returns a budget of some bytes; -1 means no limit.
func newBudget(memory int64) *budget {
	return &budget{limit: gremlin.Budget{Memory: memory}, task: gctune.Begin(memory)}
}

// matchesEncodingJSON reports whether a string is written as valid JSON that decodes to the
// same string as that of encoding/json, which replaces invalid UTF-8.
func matchesEncodingJSON(s string) bool {
	text := &Text{budget: newBudget(-1)}
	text.String(s)
	written, err := text.MarshalJSON()
	if err != nil || int64(len(written)) != text.Len() {
		return false
	}
	want, err := json.Marshal(s)
	if err != nil {
		return false
	}
	var a, b string
	return json.Unmarshal(written, &a) == nil && json.Unmarshal(want, &b) == nil && a == b
}

func TestStringEncoding(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", `"\`, "\x00\x1f\n\r\t\x7f", "\xff\xc3", "ümläut 日本 \u2028 \U0001F600", strings.Repeat("long\x01", 40_000)} {
		if !matchesEncodingJSON(s) {
			t.Errorf("%.40q is not written like encoding/json does", s)
		}
	}
	if err := quick.Check(matchesEncodingJSON, nil); err != nil {
		t.Error(err)
	}
	// Random bytes are mostly invalid UTF-8, unlike random strings.
	if err := quick.Check(func(b []byte) bool { return matchesEncodingJSON(string(b)) }, nil); err != nil {
		t.Error(err)
	}
}

func TestObjectKeysAreUnique(t *testing.T) {
	t.Parallel()
	b := newBudget(-1)
	r := newResultBuilder(nil, b)
	text := &Text{budget: b}
	entry := func(k, v graph.Value) graph.Entry { return graph.Entry{Key: k, Value: v} }
	r.object(text, []graph.Entry{
		entry(graph.String("1"), graph.String("first")), entry(graph.Int(1), graph.String("last")), entry(graph.Null, graph.Bool(true)),
		entry(graph.List(graph.Int(1), graph.String("x")), graph.Int(2)),
	})
	if got, err := text.MarshalJSON(); err != nil || string(got) != `{"1":"last","[1,\"x\"]":2,"null":true}` {
		t.Errorf("MarshalJSON = %s, %v; want each key once, with its last value", got, err)
	}
}

func TestMemoryBudget(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*resultBuilder){
		"a list of values that share parts": func(r *resultBuilder) {
			v := graph.Int(1)
			for range 40 {
				v = graph.List(v, v)
			}
			r.add(v, 1)
		},
		"maps as keys of maps": func(r *resultBuilder) {
			v := graph.Int(1)
			for range 40 {
				v = graph.Map(graph.Entry{Key: v, Value: v})
			}
			r.add(v, 1)
		},
		"a value many times":        func(r *resultBuilder) { r.add(graph.Int(1), 1<<60) },
		"text that must be escaped": func(r *resultBuilder) { r.add(graph.String(strings.Repeat("\x01", 300_000)), 1) },
	} {
		const limit = 1 << 20
		b := newBudget(limit)
		r := newResultBuilder(nil, b)
		write(r)
		var exceeded *gremlin.BudgetError
		if !errors.As(b.err, &exceeded) || exceeded.Limit != gremlin.LimitMemory || r.values.Len() > limit {
			t.Errorf("%s: %d bytes, %v; want the memory limit of %d bytes to be exceeded", name, r.values.Len(), b.err, limit)
		}
	}
}

func TestTimeBudget(t *testing.T) {
	t.Parallel()
	b := newBudget(-1)
	b.deadline = time.Now().Add(-time.Second)
	newResultBuilder(nil, b).add(graph.Int(1), 1<<60)
	var exceeded *gremlin.BudgetError
	if !errors.As(b.err, &exceeded) || exceeded.Limit != gremlin.LimitTime {
		t.Errorf("got %v, want the time limit to be exceeded", b.err)
	}
}
