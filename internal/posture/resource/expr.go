package resource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// An Item is one element of an answer, with the item whose call listed it.
type Item struct {
	gjson.Result
	Parent  *Item                   // nil for an item that was listed for the whole account
	Answers map[string]gjson.Result // of the calls that completed it so far and have a name
	None    bool                    // it stands for there being no resource of the type
}

// Vars are the variables of templates: where and for whom a call is made.
type Vars struct {
	Account   posture.AccountID
	Region    string // posture.Global for types that are read once per account
	Partition string // of AWS: aws, aws-us-gov, aws-cn
	Tenant    string // of Azure
	Number    string // of GCP: the number of the project, which some answers have in place of its id
	Name      string // of the entity, once it is known
	Batch     string // a JSON array: the values of a batch
}

// value returns the variable of a name, without its dollar sign. A number is the
// part of the name at that place, counted from 1: names of nested resources are
// joined by slashes.
func (v Vars) value(name string) (gjson.Result, bool) {
	text := ""
	switch name {
	case "account", "subscription", "project":
		text = string(v.Account)
	case "region":
		text = v.Region
	case "partition":
		text = v.Partition
	case "tenant":
		text = v.Tenant
	case "name":
		text = v.Name
	case "last":
		text = v.Name[strings.LastIndexByte(v.Name, '/')+1:]
	case "batch":
		return gjson.Parse(v.Batch), true
	case "1", "2", "3":
		parts := strings.Split(v.Name, "/")
		if i := int(name[0] - '1'); i < len(parts) {
			text = parts[i]
		}
	default:
		return gjson.Result{}, false
	}
	return textResult(text), true
}

// textResult returns a string as a result; an empty one does not exist.
func textResult(text string) gjson.Result {
	if text == "" {
		return gjson.Result{}
	}
	return gjson.Result{Type: gjson.String, Str: text, Raw: string(gjson.AppendJSONString(nil, text))}
}

// An Expr says where a value comes from: a gjson path into the item, or a
// template of literal text with $variables and ${path}s. A path that begins with
// ^ is looked up in the parent item, ^^ in its parent; name>path is looked up in
// the answer of the call of that name.
type Expr struct {
	source string
	parts  []part
}

// A part of a template is exactly one of a literal text, a variable and a path.
type part struct {
	literal  string
	variable string
	path     itemPath
}

type itemPath struct {
	up     int
	answer string // the name of a call; "" for the item itself
	text   string
}

// dependsOnItem reports whether the value may differ from item to item.
func (e Expr) dependsOnItem() bool {
	return slices.ContainsFunc(e.parts, func(p part) bool {
		return p.path.text != "" || slices.Contains([]string{"name", "last", "1", "2", "3", "batch"}, p.variable)
	})
}

// IsZero reports whether nothing was declared.
func (e Expr) IsZero() bool { return e.source == "" }

// String returns the expression as it was written.
func (e Expr) String() string { return e.source }

// PathExpr parses an expression in which plain text is a path.
func PathExpr(text string) (Expr, error) {
	if !strings.Contains(text, "$") {
		if text == "" {
			return Expr{}, fmt.Errorf("an empty path")
		}
		return Expr{source: text, parts: []part{{path: newPath(text)}}}, nil
	}
	return TemplateExpr(text)
}

// TemplateExpr parses an expression in which plain text is literal.
func TemplateExpr(text string) (Expr, error) {
	e := Expr{source: text}
	for rest := text; rest != ""; {
		literal, after, found := strings.Cut(rest, "$")
		if literal != "" {
			e.parts = append(e.parts, part{literal: literal})
		}
		if !found {
			break
		}
		if inner, ok := strings.CutPrefix(after, "{"); ok {
			text, tail, closed := strings.Cut(inner, "}")
			if !closed || text == "" {
				return Expr{}, fmt.Errorf("%q: ${ without a path and its }", e.source)
			}
			e.parts, rest = append(e.parts, part{path: newPath(text)}), tail
			continue
		}
		n := 0
		for n < len(after) && isWord(after[n]) {
			n++
		}
		if _, ok := (Vars{}).value(after[:n]); !ok {
			return Expr{}, fmt.Errorf("%q: there is no variable $%s", e.source, after[:n])
		}
		e.parts, rest = append(e.parts, part{variable: after[:n]}), after[n:]
	}
	return e, nil
}

func isWord(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

func newPath(text string) itemPath {
	trimmed := strings.TrimLeft(text, "^")
	p := itemPath{up: len(text) - len(trimmed), text: trimmed}
	if name, rest, ok := strings.Cut(trimmed, ">"); ok && isName(name) {
		p.answer, p.text = name, rest
	}
	if p.text == "" {
		p.text = "@this"
	}
	return p
}

// isName reports whether a text may be the name of a call.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// answers returns the names of the calls whose answers the expression looks into.
func (e Expr) answers() (names []string) {
	for _, p := range e.parts {
		if p.path.answer != "" {
			names = append(names, p.path.answer)
		}
	}
	return names
}

// Eval returns the value of the expression. A single path or variable keeps its
// type; a template is a string, and does not exist when a part of it does not.
func (e Expr) Eval(item *Item, v Vars) gjson.Result {
	if len(e.parts) == 1 {
		return e.parts[0].eval(item, v)
	}
	var text strings.Builder
	for _, p := range e.parts {
		value := p.eval(item, v)
		if !value.Exists() || value.Type == gjson.Null {
			return gjson.Result{}
		}
		text.WriteString(value.String())
	}
	return textResult(text.String())
}

// Text returns the value as a string; "" when there is none.
func (e Expr) Text(item *Item, v Vars) string {
	if value := e.Eval(item, v); value.Type != gjson.Null {
		return value.String()
	}
	return ""
}

func (p part) eval(item *Item, v Vars) gjson.Result {
	switch {
	case p.literal != "":
		return textResult(p.literal)
	case p.variable != "":
		value, _ := v.value(p.variable)
		return value
	}
	for range p.path.up {
		if item != nil {
			item = item.Parent
		}
	}
	if item == nil { // of a call that is made for no item
		return gjson.Result{}
	}
	within := item.Result
	if p.path.answer != "" {
		for item.Answers == nil && item.Parent != nil { // the item that is completed has them
			item = item.Parent
		}
		within = item.Answers[p.path.answer]
	}
	if p.path.text == "@this" {
		return within
	}
	return within.Get(p.path.text)
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (e *Expr) UnmarshalYAML(node *yaml.Node) error {
	var text string
	if err := node.Decode(&text); err != nil {
		return err
	}
	parsed, err := PathExpr(text)
	if err != nil {
		return at(node, err)
	}
	*e = parsed
	return nil
}

// Exprs are alternatives: the first one that exists counts.
type Exprs []Expr

// UnmarshalYAML implements [yaml.Unmarshaler]. One expression needs no list.
func (es *Exprs) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]Expr)(es))
	}
	var one Expr
	if err := node.Decode(&one); err != nil {
		return err
	}
	*es = Exprs{one}
	return nil
}

// Eval returns the first alternative that exists and is neither null nor the empty
// string; the empty string when there is no other.
func (es Exprs) Eval(item *Item, v Vars) (found gjson.Result) {
	for _, e := range es {
		value := e.Eval(item, v)
		if !value.Exists() || value.Type == gjson.Null {
			continue
		}
		if value.Type != gjson.String || value.Str != "" {
			return value
		}
		found = value
	}
	return found
}

// Text returns the value as a string; "" when there is none.
func (es Exprs) Text(item *Item, v Vars) string { return es.Eval(item, v).String() }

// String returns the alternatives as they were written.
func (es Exprs) String() string {
	all := make([]string, len(es))
	for i, e := range es {
		all[i] = e.source
	}
	return strings.Join(all, " or ")
}

// answers returns the names of the calls whose answers the expressions look into.
func (es Exprs) answers() (names []string) {
	for _, e := range es {
		names = append(names, e.answers()...)
	}
	return names
}
