package apidoc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// ToJSON converts a YAML document to JSON with members in the same order, which
// is the order in which the page shows them.
func ToJSON(document []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := writeNode(&out, &root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeNode(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return writeNode(out, n.Content[0])
	case yaml.AliasNode:
		return writeNode(out, n.Alias)
	case yaml.SequenceNode:
		return writeSequence(out, n)
	case yaml.MappingNode:
		return writeMapping(out, n)
	case yaml.ScalarNode:
		return writeScalar(out, n)
	}
	return fmt.Errorf("line %d: this cannot be represented in JSON", n.Line)
}

func writeMapping(out *bytes.Buffer, n *yaml.Node) error {
	out.WriteByte('{')
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Tag == "!!merge" {
			return fmt.Errorf("line %d: merge keys are not supported", name.Line)
		}
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeValue(out, name.Value); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeNode(out, value); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func writeSequence(out *bytes.Buffer, n *yaml.Node) error {
	out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeNode(out, item); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func writeScalar(out *bytes.Buffer, n *yaml.Node) error {
	if n.Tag == "!!timestamp" { // JSON has no timestamps: write the text as a string
		return writeValue(out, n.Value)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return err
	}
	return writeValue(out, v)
}

func writeValue(out *bytes.Buffer, v any) error {
	b, err := json.Marshal(v)
	out.Write(b)
	return err
}

// title returns the title of a document in JSON.
func title(document []byte) string {
	var d struct{ Info struct{ Title string } }
	if json.Unmarshal(document, &d) != nil || d.Info.Title == "" {
		return "API"
	}
	return d.Info.Title
}
