package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vigil/gremlin/conformance/internal/suite"
	"vigil/gremlin/internal/tinkerpop"
	"vigil/gremlin/internal/tinkerpop/tinkerpoptest"
)

// TestConformance runs every scenario that applies to a read-only engine as a subtest.
func TestConformance(t *testing.T) {
	t.Parallel()
	graphs, err := suite.ReadGraphs(tinkerpoptest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	all := slices.DeleteFunc(tinkerpoptest.Scenarios(t), func(sc tinkerpop.Scenario) bool { return suite.LeftOut(sc) != "" })
	if len(all) < 1700 {
		t.Fatalf("only %d scenarios are run", len(all))
	}
	s := &suite.Suite{Engine: engine(), Graphs: graphs}
	for _, sc := range all {
		t.Run(sc.ID, func(t *testing.T) {
			t.Parallel()
			o := s.Run(t.Context(), sc)
			if o.Failure != "" {
				var b bytes.Buffer
				(&suite.Report{Out: &b}).Add(o)
				t.Error(b.String())
			}
		})
	}
}

// files writes a scenario file and a folder with one graph.
func files(t *testing.T, scenarios string) (file, graphs string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "scenarios.jsonl")
	graphs = filepath.Join(dir, "graphs")
	tiny := `{"vertices":[{"id":{"t":"Int32","v":1},"label":"person","properties":{"name":[{"id":{"t":"Int64","v":0},"value":{"t":"String","v":"marko"}}]}}],"edges":[]}`
	if err := os.Mkdir(graphs, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{file: scenarios, filepath.Join(graphs, "tiny.json"): tiny} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return file, graphs
}

func TestCommand(t *testing.T) {
	t.Parallel()
	const passes = `{"id":"a#passes","tags":[],"graph":"tiny","setup":null,"params":[["x","marko"]],"gremlin":"g.V().has(\"name\", x)","when":"iterated to list","expect":{"kind":"unordered","values":["v[marko]"],"also":[]}}` + "\n"
	// This scenario fails because count() returns a long and the expected value is an int.
	const fails = `{"id":"b#fails","tags":["@T"],"graph":"empty","setup":"g.addV('x')","params":[],"gremlin":"g.V().count()","when":"iterated to list","expect":{"kind":"unordered","values":["d[1].i"],"also":[]}}` + "\n"
	for _, c := range []struct {
		name, scenarios string
		args            []string
		status          int
		contains        []string
		last            string
	}{
		{"all pass", passes, nil, 0, nil, "1 passed, 0 failed"},
		{"one fails", passes + fails, nil, 1, []string{"FAIL  b#fails", "g.V().count()", "d[1].i", "d[1].l"}, "1 passed, 1 failed"},
		{"only", passes + fails, []string{"-only", "a#"}, 0, nil, "1 passed, 0 failed"},
		{"only by tag", passes + fails, []string{"-only", "@T", "-summary"}, 1, []string{"1 feature b"}, "0 passed, 1 failed"},
		{"verbose", passes, []string{"-v"}, 0, []string{"ok    a#passes"}, "1 passed, 0 failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file, graphs := files(t, c.scenarios)
			var out, errs bytes.Buffer
			status := run(t.Context(), append([]string{"-scenarios", file, "-graphs", graphs}, c.args...), &out, &errs)
			if status != c.status {
				t.Errorf("status %d, not %d: %s%s", status, c.status, &out, &errs)
			}
			for _, text := range c.contains {
				if !strings.Contains(out.String(), text) {
					t.Errorf("no %q in\n%s", text, &out)
				}
			}
			if !strings.HasSuffix(out.String(), c.last+"\n") {
				t.Errorf("last line is not %q:\n%s", c.last, &out)
			}
		})
	}
}

func TestCommandWithMalformedInput(t *testing.T) {
	t.Parallel()
	broken, graphs := files(t, "{")
	for _, args := range [][]string{{"-x"}, {"-graphs", graphs}, {"-scenarios", broken}, {"-scenarios", "nowhere", "-graphs", graphs}, {"-scenarios", broken, "-graphs", graphs}} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), args, &out, &errs); status != 2 || errs.Len() == 0 {
			t.Errorf("%v: status %d, %s", args, status, &errs)
		}
	}
}
