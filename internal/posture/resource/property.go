package resource

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// A Kind is the type of a property in a declaration.
type Kind string

// The kinds.
const (
	Text  Kind = "string"
	Texts Kind = "strings" // a list of strings in no significant order
	Flag  Kind = "bool"
	Long  Kind = "long"
	Time  Kind = "time" // a string in RFC 3339, UTC, whole seconds
	Date  Kind = "date" // the day of a time: 2024-05-01, UTC
)

// Properties are the properties of a declaration in the order of the file.
type Properties []Property

// A Property declares one property of a type and where responses have it.
type Property struct {
	Name string `yaml:"-"`
	Kind Kind   `yaml:"type"` // Text when empty
	Doc  string `yaml:"doc"`  // one sentence

	// At locates the value: the first expression that exists. For a list of
	// strings, the values of all expressions are combined.
	At Exprs `yaml:"at"`
	// Each is a template that is applied to every element of At.
	Each Expr `yaml:"each"`
	// Is converts a string to a bool: true when it is one of these. A list is true
	// when one of its elements is.
	Is Strings `yaml:"is"`
	// NotEmpty converts a list, object or string to a bool: true when it is not empty.
	NotEmpty bool `yaml:"notEmpty"`
	// Map maps values of the cloud to values of the property.
	Map map[string]string `yaml:"map"`

	// Values are the permitted values of a string, as the cloud documents them.
	// Responses may spell them in another case.
	Values Strings `yaml:"values"`
	// Absent is the value when the response lacks the property: a string, bool or
	// number. Without Absent the property is left out.
	Absent any `yaml:"absent"`

	// Exposed says why the property makes the resource reachable from the internet,
	// such as "has a public address". The resource is reachable when the property
	// has a value, is true, or is one of ExposedIf.
	Exposed   string  `yaml:"exposed"`
	ExposedIf Strings `yaml:"exposedIf"`
	// Powerful says that the property is true for identities or policies that have
	// full access.
	Powerful bool `yaml:"powerful"`
}

// Strings is a list of strings. YAML may write a single string without a list.
type Strings []string

// UnmarshalYAML implements [yaml.Unmarshaler].
func (s *Strings) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]string)(s))
	}
	*s = Strings{node.Value}
	return nil
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (ps *Properties) UnmarshalYAML(node *yaml.Node) error {
	return eachMember(node, func(name string, value *yaml.Node) error {
		p := Property{Name: name}
		if err := strict(value, &p); err != nil {
			return err
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("property %s: %w", name, err)
		}
		*ps = append(*ps, p)
		return nil
	})
}

func (p *Property) check() error {
	if p.Kind == "" {
		p.Kind = Text
		if len(p.Is) > 0 || p.NotEmpty {
			p.Kind = Flag
		}
	}
	switch absent := p.Absent; {
	case !slices.Contains([]Kind{Text, Texts, Flag, Long, Time, Date}, p.Kind):
		return fmt.Errorf("unknown type %q", p.Kind)
	case p.Doc == "":
		return fmt.Errorf("doc is required")
	case len(p.At) == 0:
		return fmt.Errorf("at is required: where responses have the value")
	case (len(p.Is) > 0 || p.NotEmpty) && p.Kind != Flag:
		return fmt.Errorf("is and notEmpty require type bool")
	case len(p.Values) > 0 && p.Kind != Text && p.Kind != Texts:
		return fmt.Errorf("values require type string")
	case absent != nil && !p.accepts(absent):
		return fmt.Errorf("absent %v is not of type %s, or not one of values", absent, p.Kind)
	}
	return nil
}

// accepts reports whether the property may have a YAML value: the value has the
// property's kind and, if Values are declared, is one of them.
func (p *Property) accepts(v any) bool {
	switch v := v.(type) {
	case string:
		return (p.Kind == Text || p.Kind == Texts) && (len(p.Values) == 0 || slices.Contains(p.Values, v))
	case bool:
		return p.Kind == Flag
	case int:
		return p.Kind == Long
	}
	return false
}

// Stored returns the type under which entities store the property, and whether it
// is a list.
func (p *Property) Stored() (kind string, list bool) {
	switch p.Kind {
	case Flag:
		return posture.BoolProperty, false
	case Long:
		return posture.LongProperty, false
	}
	return posture.StringProperty, p.Kind == Texts
}

// put adds the property to an entity.
func (p *Property) put(b *Builder, item *Item, v Vars) {
	if p.Kind == Texts {
		var all []string
		for _, path := range p.At {
			all = append(all, p.texts(path.Eval(item, v), v)...)
		}
		b.Set(p.Name, all)
		if len(all) == 0 {
			p.putAbsent(b)
		}
		return
	}
	if !p.putValue(b, p.At.Eval(item, v), v) {
		p.putAbsent(b)
	}
}

// putAbsent adds the value that the property has when the cloud does not return it.
func (p *Property) putAbsent(b *Builder) {
	switch v := p.Absent.(type) {
	case string:
		b.Text(p.Name, v)
	case bool:
		b.Flag(p.Name, v)
	case int:
		b.Number(p.Name, int64(v))
	}
}

// putValue adds the property with a value of a response. It returns false if there is no
// usable value.
func (p *Property) putValue(b *Builder, value gjson.Result, v Vars) bool {
	switch {
	case p.NotEmpty:
		nonEmpty := value.IsObject() && len(value.Map()) > 0 || value.IsArray() && len(value.Array()) > 0 || value.Type == gjson.String && value.Str != ""
		b.Flag(p.Name, nonEmpty)
		return true
	case !value.Exists() || value.Type == gjson.Null:
		return false
	}
	switch p.Kind {
	case Flag:
		return p.putFlag(b, value, v)
	case Long:
		n, ok := wholeNumber(value)
		if ok {
			b.Number(p.Name, n)
		}
		return ok
	case Time, Date:
		text := value.String()
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			text = t.UTC().Format(map[Kind]string{Time: time.RFC3339, Date: time.DateOnly}[p.Kind])
		}
		b.Text(p.Name, text)
		return text != ""
	}
	text := value.String()
	if !p.Each.IsZero() {
		text = p.Each.Text(&Item{Result: value}, v)
	}
	text = p.mapValue(text)
	b.Text(p.Name, text)
	return text != ""
}

func (p *Property) putFlag(b *Builder, value gjson.Result, v Vars) bool {
	switch text := value.String(); {
	case len(p.Is) > 0:
		b.Flag(p.Name, p.isAny(value, v))
	case value.IsBool():
		b.Flag(p.Name, value.Bool())
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
		b.Flag(p.Name, strings.EqualFold(text, "true"))
	default:
		return false
	}
	return true
}

// isAny reports whether a string, or an element of a list, is one of Is.
func (p *Property) isAny(value gjson.Result, v Vars) bool {
	if value.IsArray() {
		return slices.ContainsFunc(value.Array(), func(element gjson.Result) bool { return p.isAny(element, v) })
	}
	return slices.ContainsFunc(p.Is, func(want string) bool { return v.matches(want, value.String()) })
}

// wholeNumber parses a whole number or a string of digits. It returns false for other values,
// such as 7.5 and "30s", because a part of them would be a wrong value.
func wholeNumber(value gjson.Result) (int64, bool) {
	switch value.Type {
	case gjson.Number:
		whole := value.Num == math.Trunc(value.Num) && math.Abs(value.Num) < 1<<63
		return value.Int(), whole
	case gjson.String:
		n, err := strconv.ParseInt(value.Str, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// texts returns the strings of a value. The value may be a string, a list, a nested
// list, or an object, of which the member names are returned.
func (p *Property) texts(value gjson.Result, v Vars) (all []string) {
	each := func(element gjson.Result) {
		text := element.String()
		if !p.Each.IsZero() {
			text = p.Each.Text(&Item{Result: element}, v)
		}
		all = append(all, p.mapValue(text))
	}
	var walk func(gjson.Result)
	walk = func(r gjson.Result) {
		switch {
		case r.IsArray():
			for _, element := range r.Array() {
				walk(element)
			}
		case r.IsObject() && p.Each.IsZero():
			r.ForEach(func(key, _ gjson.Result) bool {
				all = append(all, p.mapValue(key.String()))
				return true
			})
		case r.Type != gjson.Null:
			each(r)
		}
	}
	walk(value)
	return all
}

// mapValue returns the value of the property for a string of a response. Clouds, Azure above
// all, do not keep to one spelling of their enumerations ("Enabled", "enabled"), so a value
// that differs from a permitted one in case alone is that value. Google returns
// ..._UNSPECIFIED where nothing was chosen, which is the same as no value.
func (p *Property) mapValue(text string) string {
	if to, ok := p.Map[text]; ok {
		return to
	}
	if slices.Contains(p.Values, text) {
		return text
	}
	if i := slices.IndexFunc(p.Values, func(value string) bool { return strings.EqualFold(value, text) }); i >= 0 {
		return p.Values[i]
	}
	if len(p.Values) > 0 && strings.HasSuffix(text, "_UNSPECIFIED") {
		return ""
	}
	return text
}
