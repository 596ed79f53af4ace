package resource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// An Item is one element of a response.
type Item struct {
	gjson.Result
	Parent  *Item                   // the item of the previous stage that led to this one; nil in the first stage
	Answers map[string]gjson.Result // responses, so far, of the calls that complete the item and have a name (as)
	None    bool                    // it represents the absence of resources of the type

	members memberIndex // of Result; nil if it has not been indexed
}

// Vars are the variables of templates: the scope of a call.
type Vars struct {
	Account   posture.AccountID
	Region    string // posture.Global for types that are read once per account
	Partition string // AWS: aws, aws-us-gov, aws-cn
	Tenant    string // Azure
	Number    string // GCP: the project number, which some responses have in place of the project id
	Name      string // name of the entity, once known
	Batch     string // values of a batch as a JSON array
}

// value returns the variable of a name without its dollar sign. A numeric name n
// selects the n-th part, counted from 1, of the slash-separated entity name.
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

// textResult returns a string as a result. The result of "" does not exist.
func textResult(text string) gjson.Result {
	if text == "" {
		return gjson.Result{}
	}
	return gjson.Result{Type: gjson.String, Str: text, Raw: string(gjson.AppendJSONString(nil, text))}
}

// An Expr locates a value: a gjson path into the item, or a template of literal
// text with $variables and ${path}s. A path that begins with ^ applies to the
// parent item, ^^ to the grandparent. name>path applies to the response of the call
// that is declared with "as: name".
type Expr struct {
	source string
	parts  []part
}

// A part of a template is a literal text, a variable or a path.
type part struct {
	literal  string
	variable string
	path     itemPath
}

type itemPath struct {
	up     int
	answer string // name of a call; "" for the item itself
	text   string

	member, rest string // text, if it is "member" or "member.rest" and answer is ""; otherwise both are ""
	list, each   string // text, if it is "list.#.each"; otherwise both are ""
}

// dependsOnItem reports whether the value may differ from item to item.
func (e Expr) dependsOnItem() bool {
	return slices.ContainsFunc(e.parts, func(p part) bool {
		return p.path.text != "" || slices.Contains([]string{"name", "last", "1", "2", "3", "batch"}, p.variable)
	})
}

// IsZero reports whether the expression is not declared.
func (e Expr) IsZero() bool { return e.source == "" }

// String returns the source text of the expression.
func (e Expr) String() string { return e.source }

// PathExpr parses a path or, if the text contains $, a template.
func PathExpr(text string) (Expr, error) {
	if !strings.Contains(text, "$") {
		if text == "" {
			return Expr{}, fmt.Errorf("the path is empty")
		}
		return Expr{source: text, parts: []part{{path: newPath(text)}}}, nil
	}
	return TemplateExpr(text)
}

// TemplateExpr parses a template. A text without $ is literal, not a path.
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
				return Expr{}, fmt.Errorf("%q: ${ must be followed by a path and }", e.source)
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
	if p.answer == "" {
		p.member, p.rest = splitMember(p.text)
	}
	if list, each, ok := strings.Cut(p.text, ".#."); ok && each != "" && isPlain(list) && isPlain(each) {
		p.list, p.each = list, each
	}
	return p
}

// isName reports whether a text may be the name of a call.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// usedCalls returns the names of the calls whose responses the expression uses.
func (e Expr) usedCalls() (names []string) {
	for _, p := range e.parts {
		if p.path.answer != "" {
			names = append(names, p.path.answer)
		}
	}
	return names
}

// Eval returns the value of the expression. A single path or variable keeps its
// type. A template yields a string; the result does not exist when one of its
// parts does not exist.
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

// Visit visits the value of the expression. For a path such as Reservations.#.Instances,
// it visits the value in each element: one list of them would copy most of a page.
func (e Expr) Visit(item *Item, v Vars, visit func(gjson.Result)) {
	if len(e.parts) == 1 && e.parts[0].path.list != "" {
		p := e.parts[0] // a copy, whose path becomes that of the list
		each := p.path.each
		p.path.text, p.path.member, p.path.rest = p.path.list, p.path.list, ""
		if list := p.eval(item, v); list.IsArray() {
			list.ForEach(func(_, element gjson.Result) bool {
				if value := element.Get(each); value.Exists() {
					visit(value)
				}
				return true
			})
		}
		return
	}
	visit(e.Eval(item, v))
}

// Text returns the value as a string, "" when it does not exist.
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
	if item == nil { // the call is not made for an item
		return gjson.Result{}
	}
	if p.path.answer == "" {
		return p.path.get(item)
	}
	for item.Answers == nil && item.Parent != nil { // responses are stored with the item that is being completed
		item = item.Parent
	}
	within := item.Answers[p.path.answer]
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
		return withLine(node, err)
	}
	*e = parsed
	return nil
}

// Exprs are alternatives: the first that exists is the value.
type Exprs []Expr

// UnmarshalYAML implements [yaml.Unmarshaler]. A single expression needs no list.
func (es *Exprs) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]Expr)(es))
	}
	var parsed Expr
	if err := node.Decode(&parsed); err != nil {
		return err
	}
	*es = Exprs{parsed}
	return nil
}

// Eval returns the first alternative that exists and is neither null nor empty. It
// returns the empty string when the only alternative that exists is empty.
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

// Text returns the value as a string, "" when it does not exist.
func (es Exprs) Text(item *Item, v Vars) string { return es.Eval(item, v).String() }

// String returns the source texts of the alternatives.
func (es Exprs) String() string {
	all := make([]string, len(es))
	for i, e := range es {
		all[i] = e.source
	}
	return strings.Join(all, " or ")
}

// usedCalls returns the names of the calls whose responses the expressions use.
func (es Exprs) usedCalls() (names []string) {
	for _, e := range es {
		names = append(names, e.usedCalls()...)
	}
	return names
}
