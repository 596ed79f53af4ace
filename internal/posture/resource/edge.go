package resource

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// Edges are the edges of a declaration in the order of the file.
type Edges []Edge

// An Edge declares that entities of a type may have an edge of this label.
type Edge struct {
	Label string      `yaml:"-"`
	To    EntityTypes `yaml:"to"`
	Doc   string      `yaml:"doc"`  // one sentence
	Ref   Exprs       `yaml:"ref"`  // names, ARNs, ids or links of the targets; every expression adds targets
	Each  Expr        `yaml:"each"` // template that is applied to every value of Ref
	ARN   bool        `yaml:"arn"`  // ignore values that are not ARNs
}

// EntityTypes is a list of types. YAML may write a single type without a list.
type EntityTypes []posture.EntityType

// UnmarshalYAML implements [yaml.Unmarshaler].
func (ts *EntityTypes) UnmarshalYAML(node *yaml.Node) error {
	var all Strings
	if err := node.Decode(&all); err != nil {
		return err
	}
	for _, t := range all {
		*ts = append(*ts, posture.EntityType(t))
	}
	return nil
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (es *Edges) UnmarshalYAML(node *yaml.Node) error {
	return eachMember(node, func(name string, value *yaml.Node) error {
		e := Edge{Label: name}
		if err := strict(value, &e); err != nil {
			return err
		}
		switch {
		case len(e.To) == 0:
			return fmt.Errorf("edge %s: to is required: the types of its targets", name)
		case e.Doc == "":
			return fmt.Errorf("edge %s: doc is required", name)
		case len(e.Ref) == 0:
			return fmt.Errorf("edge %s: ref is required: where responses name its targets", name)
		}
		*es = append(*es, e)
		return nil
	})
}

// put adds the edges to an entity, one per distinct target.
func (e *Edge) put(b *Builder, item *Item, c Context) {
	seen := map[posture.EntityID]bool{}
	var add func(gjson.Result)
	add = func(value gjson.Result) {
		if value.IsArray() {
			for _, element := range value.Array() {
				add(element)
			}
			return
		}
		text := value.String()
		if !e.Each.IsZero() {
			text = e.Each.Text(&Item{Result: value, Parent: item}, c.Vars)
		}
		if value.Type == gjson.Null || text == "" || e.ARN && !strings.HasPrefix(text, "arn:") {
			return
		}
		if id := c.Cloud.Ref(c.Vars, e.To, text); id != "" && !seen[id] {
			seen[id] = true
			b.Edge(e.Label, id)
		}
	}
	for _, ref := range e.Ref {
		add(ref.Eval(item, c.Vars))
	}
}
