package resource

import (
	"fmt"
	"slices"
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
	Texts Kind = "strings" // a list of strings whose order means nothing
	Flag  Kind = "bool"
	Long  Kind = "long"
	Time  Kind = "time" // a string in RFC 3339, UTC, whole seconds
	Date  Kind = "date" // the day of a time: 2024-05-01, UTC
)

// Properties are in the order of the file.
type Properties []Property

// A Property declares one property of a type and where answers have it.
type Property struct {
	Name string `yaml:"-"`
	Kind Kind   `yaml:"type"` // Text when empty
	Doc  string `yaml:"doc"`  // one sentence

	// At is where the value is; the first that exists. Of a list of strings every
	// one counts.
	At Exprs `yaml:"at"`
	// Each is a template that is applied to every element at At.
	Each Expr `yaml:"each"`
	// Is makes a bool of a string: true when it is one of these. Of a list it is true
	// when an element is.
	Is Strings `yaml:"is"`
	// Some makes a bool of a list or object: true when there is anything in it.
	Some bool `yaml:"some"`
	// Map replaces values of the cloud.
	Map map[string]string `yaml:"map"`

	// Values are the permitted values of a string, as the cloud spells them.
	Values Strings `yaml:"values"`
	// Absent is the value of a property that the answer does not have: a string,
	// bool or number. Without it the property is left out.
	Absent any `yaml:"absent"`

	// Exposed says that the resource is on the internet when the property has a
	// value, or is true, or is one of ExposedIf: "has a public address".
	Exposed   string  `yaml:"exposed"`
	ExposedIf Strings `yaml:"exposedIf"`
	// Powerful says that an identity or policy can do everything when it is true.
	Powerful bool `yaml:"powerful"`
}

// Strings is a list of strings; a single one needs no list.
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
		if len(p.Is) > 0 || p.Some {
			p.Kind = Flag
		}
	}
	switch absent := p.Absent; {
	case !slices.Contains([]Kind{Text, Texts, Flag, Long, Time, Date}, p.Kind):
		return fmt.Errorf("there is no type %q", p.Kind)
	case p.Doc == "":
		return fmt.Errorf("it has no doc")
	case len(p.At) == 0:
		return fmt.Errorf("it does not say where its value is (at)")
	case (len(p.Is) > 0 || p.Some) && p.Kind != Flag:
		return fmt.Errorf("is and some make a bool")
	case len(p.Values) > 0 && p.Kind != Text && p.Kind != Texts:
		return fmt.Errorf("only strings have permitted values")
	case absent != nil && !p.fits(absent):
		return fmt.Errorf("absent is %v, which is no %s", absent, p.Kind)
	}
	return nil
}

// fits reports whether a value of YAML is of the property's kind.
func (p *Property) fits(v any) bool {
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

// Stored returns the type that entities store the property as, and whether it is
// a list.
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
		for _, at := range p.At {
			all = append(all, p.texts(at.Eval(item, v), v)...)
		}
		if b.Set(p.Name, all); len(all) == 0 {
			p.putAbsent(b)
		}
		return
	}
	if !p.read(b, p.At.Eval(item, v), v) {
		p.putAbsent(b)
	}
}

// putAbsent adds what the property is when the cloud does not tell it.
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

// read adds a value and reports whether there is one.
func (p *Property) read(b *Builder, value gjson.Result, v Vars) bool {
	switch {
	case p.Some:
		some := value.IsObject() && len(value.Map()) > 0 || value.IsArray() && len(value.Array()) > 0 || value.Type == gjson.String && value.Str != ""
		b.Flag(p.Name, some)
		return true
	case !value.Exists() || value.Type == gjson.Null:
		return false
	}
	switch p.Kind {
	case Flag:
		return p.readFlag(b, value)
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
	text = p.mapped(text)
	b.Text(p.Name, text)
	return text != ""
}

func (p *Property) readFlag(b *Builder, value gjson.Result) bool {
	switch text := value.String(); {
	case len(p.Is) > 0:
		b.Flag(p.Name, p.isAny(value))
	case value.IsBool():
		b.Flag(p.Name, value.Bool())
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
		b.Flag(p.Name, strings.EqualFold(text, "true"))
	default:
		return false
	}
	return true
}

// isAny reports whether a string, or a string in a list, is one that Is names.
func (p *Property) isAny(value gjson.Result) bool {
	if value.IsArray() {
		return slices.ContainsFunc(value.Array(), p.isAny)
	}
	return slices.ContainsFunc(p.Is, func(want string) bool { return matches(want, value.String()) })
}

// wholeNumber reads a number, or a string that is one.
func wholeNumber(value gjson.Result) (int64, bool) {
	switch value.Type {
	case gjson.Number:
		return value.Int(), true
	case gjson.String:
		var n int64
		if _, err := fmt.Sscanf(value.Str, "%d", &n); err == nil {
			return n, true
		}
	}
	return 0, false
}

// texts returns the strings of a value that may be one, a list, lists in a list,
// or an object, whose members' names count.
func (p *Property) texts(value gjson.Result, v Vars) (all []string) {
	each := func(element gjson.Result) {
		text := element.String()
		if !p.Each.IsZero() {
			text = p.Each.Text(&Item{Result: element}, v)
		}
		all = append(all, p.mapped(text))
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
				all = append(all, p.mapped(key.String()))
				return true
			})
		case r.Type != gjson.Null:
			each(r)
		}
	}
	walk(value)
	return all
}

func (p *Property) mapped(text string) string {
	if to, ok := p.Map[text]; ok {
		return to
	}
	return text
}
