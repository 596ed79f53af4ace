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

// at adds the line of a node to an error that has none.
func at(node *yaml.Node, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*positionError](err); ok {
		return err
	}
	return &positionError{node.Line, err}
}

// strict decodes a mapping into a struct and refuses members that it does not
// have. The decoder's own KnownFields does not reach into custom unmarshalers.
func strict(node *yaml.Node, to any) error {
	if node.Kind != yaml.MappingNode {
		return at(node, errors.New("an object is expected here"))
	}
	known := fields(reflect.TypeOf(to).Elem())
	for i := 0; i < len(node.Content); i += 2 {
		if name := node.Content[i]; !slices.Contains(known, name.Value) {
			return at(name, fmt.Errorf("there is no %q here, only %s", name.Value, strings.Join(known, ", ")))
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
