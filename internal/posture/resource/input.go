package resource

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An Input is the input of a call: a JSON object whose strings may be templates.
type Input struct {
	members []member // in the order in which they were declared
}

type member struct {
	name  string
	value value
}

// A value is a literal, a template, an object or a list.
type value struct {
	literal  []byte // JSON
	template Expr
	object   *Input
	list     []value
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (in *Input) UnmarshalYAML(node *yaml.Node) error {
	return eachMember(node, func(name string, node *yaml.Node) error {
		v, err := newValue(node)
		if err != nil {
			return err
		}
		in.members = append(in.members, member{name, v})
		return nil
	})
}

// NewRequest returns a request with the given call and input. The input is YAML, as in the
// declaration of a resource type. It is for requests written in Go, and panics when the
// input is invalid.
func NewRequest(call, input string) Request {
	q := Request{Call: call}
	if err := yaml.Unmarshal([]byte(input), &q.Input); err != nil {
		panic(fmt.Sprintf("invalid input of %s: %v", call, err))
	}
	return q
}

func newValue(node *yaml.Node) (v value, err error) {
	switch {
	case node.Kind == yaml.MappingNode:
		v.object = new(Input)
		return v, v.object.UnmarshalYAML(node)
	case node.Kind == yaml.SequenceNode:
		v.list = make([]value, len(node.Content))
		for i, element := range node.Content {
			if v.list[i], err = newValue(element); err != nil {
				return v, err
			}
		}
		return v, nil
	case node.Kind == yaml.ScalarNode && node.Tag == "!!str" && strings.Contains(node.Value, "$"):
		if v.template, err = TemplateExpr(node.Value); err != nil {
			return v, withLine(node, err)
		}
		return v, nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return v, err
	}
	v.literal, err = json.Marshal(value)
	return v, err
}

// isStatic reports whether the input is the same for all items.
func (in Input) isStatic() bool {
	return !slices.ContainsFunc(in.members, func(m member) bool { return !m.value.isStatic() })
}

func (val value) isStatic() bool {
	switch {
	case val.object != nil:
		return val.object.isStatic()
	case val.list != nil:
		return !slices.ContainsFunc(val.list, func(e value) bool { return !e.isStatic() })
	}
	return !val.template.dependsOnItem()
}

// usedCalls returns the names of the calls whose responses the input uses.
func (in Input) usedCalls() (names []string) {
	for _, m := range in.members {
		names = append(names, m.value.usedCalls()...)
	}
	return names
}

func (val value) usedCalls() (names []string) {
	if val.object != nil {
		return val.object.usedCalls()
	}
	for _, element := range val.list {
		names = append(names, element.usedCalls()...)
	}
	return append(names, val.template.usedCalls()...)
}

// JSON returns the input for an item. It omits members whose template yields no
// value.
func (in Input) JSON(item *Item, v Vars) []byte {
	return in.append([]byte{}, item, v)
}

func (in Input) append(to []byte, item *Item, v Vars) []byte {
	to = append(to, '{')
	first := true
	for _, m := range in.members {
		text, ok := m.value.append(nil, item, v)
		if !ok {
			continue
		}
		if !first {
			to = append(to, ',')
		}
		first = false
		name, _ := json.Marshal(m.name) // a string always marshals
		to = append(append(append(to, name...), ':'), text...)
	}
	return append(to, '}')
}

func (val value) append(to []byte, item *Item, v Vars) ([]byte, bool) {
	switch {
	case val.object != nil:
		return val.object.append(to, item, v), true
	case val.list != nil:
		to = append(to, '[')
		first := true
		for _, element := range val.list {
			text, ok := element.append(nil, item, v)
			if !ok {
				continue
			}
			if !first {
				to = append(to, ',')
			}
			first = false
			to = append(to, text...)
		}
		return append(to, ']'), true
	case !val.template.IsZero():
		result := val.template.Eval(item, v)
		return append(to, result.Raw...), result.Exists()
	}
	return append(to, val.literal...), true
}

// NewInput returns an input of alternating names and templates.
func NewInput(pairs ...string) (in Input) {
	for i := 0; i+1 < len(pairs); i += 2 {
		in.add(pairs[i], pairs[i+1])
	}
	return in
}

// add adds a member whose value is a template or plain text. It panics when the
// template is invalid because the caller passes constants.
func (in *Input) add(name, text string) {
	template, err := TemplateExpr(text)
	if err != nil {
		panic(err)
	}
	in.members = append(in.members, member{name, value{template: template}})
}
