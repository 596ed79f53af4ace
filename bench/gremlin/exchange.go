package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"vigil/graph"
)

// Graphs are passed to the Java program in a text file. A line is a vertex (V,
// id, label, then keys and values) or an edge (E, label, source, target, then
// keys and values), in tab-separated fields. A value starts with a letter for
// its type. Every vertex precedes the edges that use it.

var escaper = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`)

// formatField formats a value as a field.
func formatField(v graph.Value) (string, error) {
	switch v.Kind() {
	case graph.KindString:
		return "s" + escaper.Replace(v.Str()), nil
	case graph.KindBool:
		return "b" + strconv.FormatBool(v.Bool()), nil
	case graph.KindInt:
		return "i" + v.String(), nil
	case graph.KindLong:
		return "l" + v.String(), nil
	case graph.KindDouble:
		return "d" + v.String(), nil
	}
	return "", fmt.Errorf("write graph: values of kind %s are not supported", v.Kind())
}

// writeExchange writes a graph to a file.
func writeExchange(path string, records []graph.Record) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	for _, r := range records {
		if err := writeVertex(w, r); err != nil {
			return err
		}
	}
	for _, r := range records {
		for _, e := range r.Out {
			if err := writeEdge(w, r.ID, e); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

func writeVertex(w *bufio.Writer, r graph.Record) error {
	id, err := formatField(r.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "V\t%s\t%s", id, r.Label)
	for _, p := range r.Properties {
		v, err := formatField(p.Value)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\t%s\t%s", p.Key, v)
	}
	return w.WriteByte('\n')
}

func writeEdge(w *bufio.Writer, from graph.Value, e graph.EdgeRecord) error {
	src, err := formatField(from)
	if err != nil {
		return err
	}
	dst, err := formatField(e.To)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "E\t%s\t%s\t%s", e.Label, src, dst)
	for _, p := range e.Properties {
		v, err := formatField(p.Value)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\t%s\t%s", p.Key, v)
	}
	return w.WriteByte('\n')
}

// buildGraph builds our graph from the records.
func buildGraph(records []graph.Record) (*graph.Graph, error) {
	b := graph.NewBuilder(graph.Limits{})
	for _, r := range records {
		if err := b.Add(r); err != nil {
			return nil, err
		}
	}
	return b.Build()
}

// readExchange parses a graph that the Java program wrote.
func readExchange(path string) ([]graph.Record, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var records []graph.Record
	indexes := map[string]int{}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if err := readLine(f, &records, indexes); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return records, nil
}

func readLine(f []string, records *[]graph.Record, indexes map[string]int) error {
	if len(f) < 3 || f[0] == "E" && len(f) < 4 {
		return fmt.Errorf("line has %d fields", len(f))
	}
	if f[0] == "V" {
		id, err := parseField(f[1])
		if err != nil {
			return err
		}
		r := graph.Record{ID: id, Label: f[2]}
		ps, err := pairs(f[3:])
		for _, p := range ps {
			r.Properties = append(r.Properties, graph.PropertyRecord{Key: p.Key, VertexProperty: graph.VertexProperty{Value: p.Value}})
		}
		indexes[f[1]] = len(*records)
		*records = append(*records, r)
		return err
	}
	to, err := parseField(f[3])
	if err != nil {
		return err
	}
	from, ok := indexes[f[2]]
	if !ok {
		return fmt.Errorf("no vertex %s precedes its edge", f[2])
	}
	ps, err := pairs(f[4:])
	r := &(*records)[from]
	r.Out = append(r.Out, graph.EdgeRecord{Label: f[1], To: to, Properties: ps})
	return err
}

func pairs(f []string) ([]graph.Meta, error) {
	var ps []graph.Meta
	for ; len(f) >= 2; f = f[2:] {
		v, err := parseField(f[1])
		if err != nil {
			return nil, err
		}
		ps = append(ps, graph.Meta{Key: f[0], Value: v})
	}
	return ps, nil
}

var unescaper = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n")

// parseField parses a field as a value.
func parseField(s string) (graph.Value, error) {
	if s == "" {
		return graph.Null, fmt.Errorf("a field is empty")
	}
	text := s[1:]
	switch s[0] {
	case 's':
		return graph.String(unescaper.Replace(text)), nil
	case 'b':
		b, err := strconv.ParseBool(text)
		return graph.Bool(b), err
	case 'i':
		i, err := strconv.ParseInt(text, 10, 32)
		return graph.Int(int32(i)), err
	case 'l':
		i, err := strconv.ParseInt(text, 10, 64)
		return graph.Long(i), err
	case 'd':
		f, err := strconv.ParseFloat(text, 64)
		return graph.Double(f), err
	}
	return graph.Null, fmt.Errorf("unknown type %q", s[0])
}
