package gremlin_test

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"vigil/graph"
	"vigil/gremlin"
)

// TestScripts runs the scripts of testdata. Their commands:
//
//	graph      defines the graph, with one of these in each line:
//	             v ID LABEL KEY=VALUE...
//	             e ID FROM LABEL TO KEY=VALUE...
//	             unknown ID KEY REASON
//	run        prints results, one per line; "run sorted" sorts these lines
//	explain    prints how a query is run
//	touches    prints what a query can read
//	verdict    prints which vertices a query finds, and which it may find
//
// Every command but graph accepts limits of the budget as arguments, such as traversers=10.
// Errors are printed as results. Update the expected output with go test -rewrite.
func TestScripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := s.command(t, d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

type script struct{ g *graph.Graph }

func (s *script) command(t *testing.T, d *datadriven.TestData) (string, error) {
	if d.Cmd == "graph" {
		g, err := readGraph(d.Input)
		if err != nil {
			return "", err
		}
		s.g = g
		return fmt.Sprintf("%d vertices, %d edges\n", g.NumVertices(), g.NumEdges()), nil
	}
	var budget gremlin.Budget
	for _, arg := range d.CmdArgs {
		if err := setBudget(&budget, arg); err != nil {
			return "", err
		}
	}
	p, err := gremlin.Compile(d.Input, gremlin.CompileOptions{Budget: budget})
	if err != nil {
		return "", err
	}
	opts := gremlin.RunOptions{Budget: budget}
	switch d.Cmd {
	case "run":
		res, err := p.Run(t.Context(), s.g, opts)
		if err != nil {
			return "", err
		}
		return s.lines(res, d.HasArg("sorted")), nil
	case "explain":
		return p.Explain().String(), nil
	case "touches":
		return fmt.Sprintf("%+v\n", p.Touches(nil)), nil
	case "verdict":
		v, err := p.Verdict(t.Context(), s.g, opts)
		if err != nil {
			return "", err
		}
		return s.verdict(v), nil
	}
	return "", fmt.Errorf("unknown command %s", d.Cmd)
}

func setBudget(b *gremlin.Budget, arg datadriven.CmdArg) error {
	if len(arg.Vals) == 0 { // not a limit, but "sorted"
		return nil
	}
	n, err := strconv.ParseInt(arg.Vals[0], 10, 64)
	if err != nil {
		return err
	}
	switch arg.Key {
	case "traversers":
		b.Traversers = n
	case "results":
		b.Results = n
	case "repeat":
		b.Repeat = n
	case "live":
		b.Live = n
	case "memory":
		b.Memory = n
	case "path":
		b.PathLength = n
	case "steps":
		b.Steps = int(n)
	case "depth":
		b.Depth = int(n)
	case "length":
		b.Length = int(n)
	case "regex":
		b.Regex = int(n)
	default:
		return fmt.Errorf("unknown limit %s", arg.Key)
	}
	return nil
}

// lines formats results, one per line.
func (s *script) lines(res *gremlin.Result, sorted bool) string {
	var out []string
	for v := range res.Values() {
		out = append(out, gremlin.Text(s.g, v))
	}
	if sorted {
		sort.Strings(out)
	}
	if len(out) == 0 {
		return "nothing\n"
	}
	return strings.Join(out, "\n") + "\n"
}

func (s *script) verdict(v *gremlin.Verdict) string {
	var b strings.Builder
	for _, h := range s.g.Vertices() {
		fmt.Fprintf(&b, "%s %s\n", s.g.VertexID(h), v.Of(h))
	}
	if len(v.AllUnknownBecause) > 0 {
		fmt.Fprintf(&b, "all unknown because of %s\n", strings.Join(v.AllUnknownBecause, ", "))
	}
	return b.String()
}

// readGraph parses the lines of a graph command.
func readGraph(text string) (*graph.Graph, error) {
	b := graph.NewBuilder(graph.Limits{})
	handles := map[string]graph.Handle{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var err error
		switch {
		case f[0] == "v" && len(f) >= 3:
			var h graph.Handle
			h, err = b.AddVertex(scalar(f[1]), f[2])
			if err == nil {
				handles[f[1]] = h
				err = properties(f[3:], func(k string, v graph.Value) error {
					return b.AddProperty(h, k, graph.VertexProperty{Value: v})
				})
			}
		case f[0] == "e" && len(f) >= 5:
			var h graph.Handle
			h, err = b.AddEdge(scalar(f[1]), f[3], scalar(f[2]), scalar(f[4]))
			if err == nil {
				err = properties(f[5:], func(k string, v graph.Value) error { return b.SetEdgeProperty(h, k, v) })
			}
		case f[0] == "unknown" && len(f) == 4:
			h, declared := handles[f[1]]
			if !declared {
				return nil, fmt.Errorf("no vertex %s before %q", f[1], line)
			}
			err = b.SetUnknown(h, f[2], f[3])
		default:
			err = fmt.Errorf("unexpected line %q", line)
		}
		if err != nil {
			return nil, err
		}
	}
	return b.Build()
}

func properties(pairs []string, set func(string, graph.Value) error) error {
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		if err := set(k, scalar(v)); err != nil {
			return err
		}
	}
	return nil
}

// scalar parses an integer, a fraction, a boolean or a word.
func scalar(s string) graph.Value {
	if n, err := strconv.ParseInt(s, 10, 32); err == nil {
		return graph.Int(int32(n))
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return graph.Double(f)
	}
	if b, err := strconv.ParseBool(s); err == nil {
		return graph.Bool(b)
	}
	return graph.String(s)
}
