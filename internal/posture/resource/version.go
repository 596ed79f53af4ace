package resource

import (
	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"
)

// Versions identify the version of a resource that a response describes.
type Versions []Version

// A Version is a value that changes with the resource: an ETag, a revision or the time of
// the last change. Item is its path in the listed item, Answer its path in the response.
type Version struct{ Item, Answer Expr }

// UnmarshalYAML implements [yaml.Unmarshaler]: a map from a path in the item to a path in
// the response.
func (vs *Versions) UnmarshalYAML(node *yaml.Node) error {
	return eachMember(node, func(name string, value *yaml.Node) error {
		item, err := PathExpr(name)
		if err != nil {
			return err
		}
		answer, err := PathExpr(value.Value)
		if err != nil {
			return err
		}
		*vs = append(*vs, Version{item, answer})
		return nil
	})
}

// Agree reports whether a response describes the version of the resource that was listed.
// An item or a response without a version never agrees.
func (vs Versions) Agree(item *Item, answer gjson.Result, v Vars) bool {
	described := &Item{Result: answer}
	for _, version := range vs {
		if listed := version.Item.Text(item, v); listed == "" || listed != version.Answer.Text(described, v) {
			return false
		}
	}
	return len(vs) > 0
}
