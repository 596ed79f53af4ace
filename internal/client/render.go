package client

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"vigil/internal/terminal"
)

// A Column is one column of a table: its heading, and the path of the record's
// member, with dots between names.
type Column struct{ Head, Member string }

// Columns parses "HEAD=member HEAD=member".
func Columns(text string) (all []Column) {
	for _, field := range strings.Fields(text) {
		head, member, _ := strings.Cut(field, "=")
		all = append(all, Column{head, member})
	}
	return all
}

// Formats are the output formats of commands.
const Formats = "table,json,yaml,csv"

// Render prints records.
func Render(w io.Writer, format string, columns []Column, records []Record) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if records == nil {
			records = []Record{}
		}
		return encoder.Encode(records)
	case "yaml":
		return renderYAML(w, records)
	case "csv":
		out := csv.NewWriter(w)
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = c.Member
		}
		err := out.Write(row)
		for _, r := range records {
			for i, c := range columns {
				row[i] = Text(r, c.Member)
			}
			if err == nil {
				err = out.Write(row)
			}
		}
		out.Flush()
		if err == nil {
			err = out.Error()
		}
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heads := make([]string, len(columns))
	for i, c := range columns {
		heads[i] = c.Head
	}
	fmt.Fprintln(out, strings.Join(heads, "\t"))
	cells := make([]string, len(columns))
	for _, r := range records {
		for i, c := range columns {
			cells[i] = terminal.OneLine(Text(r, c.Member))
		}
		fmt.Fprintln(out, strings.Join(cells, "\t"))
	}
	return out.Flush()
}

// A Stream prints records as they arrive, under one heading.
type Stream struct {
	w       io.Writer
	format  string
	columns []Column
	widths  []int // of the columns of a table; they only grow
	started bool
}

// NewStream returns a stream. In JSON it prints one object per line.
func NewStream(w io.Writer, format string, columns []Column) *Stream {
	return &Stream{w: w, format: format, columns: columns, widths: make([]int, len(columns))}
}

// Write prints records.
func (s *Stream) Write(records []Record) error {
	switch s.format {
	case "json":
		encoder := json.NewEncoder(s.w)
		encoder.SetEscapeHTML(false)
		for _, r := range records {
			if err := encoder.Encode(r); err != nil {
				return err
			}
		}
		return nil
	case "yaml": // the lists of all calls together are one list in YAML
		if len(records) == 0 {
			return nil // an empty list is printed as [], which cannot be a part of another list
		}
		return renderYAML(s.w, records)
	}
	var rows [][]string
	if !s.started {
		rows = append(rows, s.heading())
		s.started = true
	}
	for _, r := range records {
		row := make([]string, len(s.columns))
		for i, c := range s.columns {
			row[i] = Text(r, c.Member)
		}
		rows = append(rows, row)
	}
	if s.format == "csv" {
		return csv.NewWriter(s.w).WriteAll(rows)
	}
	return s.table(rows)
}

func (s *Stream) heading() (row []string) {
	for _, c := range s.columns {
		if s.format == "csv" {
			row = append(row, c.Member)
		} else {
			row = append(row, c.Head)
		}
	}
	return row
}

// table prints rows, with each column as wide as its widest cell so far.
func (s *Stream) table(rows [][]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.OneLine(row[i])
			s.widths[i] = max(s.widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			fmt.Fprintf(&line, "%-*s  ", s.widths[i], cell)
		}
		if _, err := fmt.Fprintln(s.w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// renderYAML prints records by way of JSON, so that they have the same members and numbers in both formats. The JSON is not parsed
// as YAML, because YAML does not permit all characters that JSON permits.
func renderYAML(w io.Writer, records []Record) error {
	text, err := json.Marshal(records)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(withPlainNumbers(value)); err != nil {
		return err
	}
	return encoder.Close()
}

// withPlainNumbers replaces the numbers in a JSON value by YAML nodes: the YAML encoder would quote a json.Number like a string.
func withPlainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}
	case Record:
		for name, member := range v {
			v[name] = withPlainNumbers(member)
		}
	case []any:
		for i, item := range v {
			v[i] = withPlainNumbers(item)
		}
	}
	return value
}

// Text returns a member of a record as text; "" if it is missing.
func Text(r Record, member string) string {
	name, rest, deeper := strings.Cut(member, ".")
	value, ok := r[name]
	if !ok || value == nil {
		return ""
	}
	if deeper {
		inner, ok := value.(Record)
		if !ok {
			return ""
		}
		return Text(inner, rest)
	}
	switch v := value.(type) {
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i, each := range v {
			parts[i] = fmt.Sprint(each)
		}
		return strings.Join(parts, " ")
	case Record:
		text, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(text)
	}
	return fmt.Sprint(value)
}
