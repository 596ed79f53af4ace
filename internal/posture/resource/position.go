package resource

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A positionError is an error at a line of a file.
type positionError struct {
	line int
	err  error
}

func (e *positionError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *positionError) Unwrap() error { return e.err }

// withLine adds the line of a node to an error that has none.
func withLine(node *yaml.Node, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*positionError](err); ok {
		return err
	}
	return &positionError{node.Line, err}
}

// withLine adds the line of a member to an error that has none. For a member that the
// file does not have, it adds the first line.
func (t *Type) withLine(member string, err error) error {
	if _, ok := errors.AsType[*positionError](err); ok || err == nil {
		return err
	}
	return &positionError{max(t.lines[member], 1), err}
}

// Locate adds the line to an error whose text begins with its subject: "property
// name", "edge LABEL" or the name of a call.
func (t *Type) Locate(err error) error {
	line, best := 1, ""
	for what, lineNumber := range t.lines {
		if len(what) > len(best) && strings.HasPrefix(err.Error(), what) {
			line, best = lineNumber, what
		}
	}
	return &positionError{line, err}
}

// linesOf returns the line numbers of the members of a declaration, of the elements
// of lists, and of properties, edges and calls by name.
func linesOf(document *yaml.Node) map[string]int {
	lines := map[string]int{}
	members(document, func(name, value *yaml.Node) {
		lines[name.Value] = name.Line
		noteLines(lines, name.Value, value)
		if value.Kind != yaml.SequenceNode {
			return
		}
		for i, element := range value.Content {
			lines[fmt.Sprintf("%s[%d]", name.Value, i)] = element.Line
			members(element, func(name, value *yaml.Node) {
				if name.Value == "call" {
					lines[value.Value] = element.Line
				}
				noteLines(lines, name.Value, value)
			})
		}
	})
	return lines
}

// noteLines records the lines of properties or edges.
func noteLines(lines map[string]int, member string, value *yaml.Node) {
	what, ok := map[string]string{"properties": "property ", "edges": "edge "}[member]
	if !ok {
		return
	}
	members(value, func(name, _ *yaml.Node) { lines[what+name.Value] = name.Line })
}

// members visits the members of a mapping.
func members(node *yaml.Node, visit func(name, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		visit(node.Content[i], node.Content[i+1])
	}
}

// strict decodes a mapping into a struct and rejects unknown members. KnownFields of
// the decoder does not apply inside custom unmarshalers.
func strict(node *yaml.Node, to any) error {
	if node.Kind != yaml.MappingNode {
		return withLine(node, errors.New("an object is expected here"))
	}
	known := fields(reflect.TypeOf(to).Elem())
	for i := 0; i < len(node.Content); i += 2 {
		if name := node.Content[i]; !slices.Contains(known, name.Value) {
			return withLine(name, fmt.Errorf("unknown member %q; the members are %s", name.Value, strings.Join(known, ", ")))
		}
	}
	return node.Decode(to)
}

// fields returns the YAML names of a struct's members.
func fields(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			names = append(names, fields(f.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}
