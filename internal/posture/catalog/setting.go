package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"vigil/internal/posture"
)

// settingsFile is the name of files with rules about single settings.
const settingsFile = "settings.yaml"

// A setting is a rule about the value of a property of one resource. Its query, its
// visualization and its cases are generated from the wrong values; the file contains
// the rest.
type setting struct {
	ID          string              `yaml:"id"`
	Title       string              `yaml:"title"`
	Type        posture.EntityType  `yaml:"type"`
	Level       posture.RuleLevel   `yaml:"level"`
	Wrong       conditions          `yaml:"wrong"` // all of them together make a violation
	Right       map[string]any      `yaml:"right"` // a value that passes, where it does not follow from Wrong
	About       conditions          `yaml:"about"` // resources that the rule is about, if not all of the type
	Parameters  []parameter         `yaml:"parameters"`
	Table       string              `yaml:"table"` // of versions, for conditions that are "ended"
	Why         string              `yaml:"why"`
	Fix         string              `yaml:"fix"`
	Link        string              `yaml:"link"`
	Controls    map[string][]string `yaml:"controls"`
	Unconfirmed map[string][]string `yaml:"unconfirmed"`
	// Cases are added to the generated ones. A case about a property that a function
	// derives contains answers of the cloud.
	Cases []Case `yaml:"cases"`
}

// loadSettings reads the rules of a settings file.
func (in *folder) loadSettings(file string) ([]Entry, error) {
	var f struct {
		Settings []setting `yaml:"settings"`
	}
	if err := decode(in.files, file, &f); err != nil {
		return nil, err
	}
	var all []Entry
	var bad []error
	for _, s := range f.Settings {
		e, err := s.rule(file, in)
		if err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", s.ID, err))
		}
		all = append(all, e)
	}
	return all, errors.Join(bad...)
}

// rule returns the rule of a setting.
func (s setting) rule(file string, in *folder) (Entry, error) {
	if len(s.Wrong) == 0 {
		return Entry{File: file}, errors.New("wrong is required: the values that violate the rule")
	}
	for _, cs := range []conditions{s.About, s.Wrong} {
		for i := range cs {
			if err := cs[i].resolve(s.Parameters, in.tables[s.Table]); err != nil {
				return Entry{File: file}, err
			}
		}
	}
	cases, err := s.cases()
	if err != nil {
		return Entry{File: file}, err
	}
	cases = append(cases, s.Cases...)
	f := ruleFile{
		ID: s.ID, Title: s.Title, Type: s.Type, Level: s.Level, Why: s.Why, Fix: s.Fix, Link: s.Link,
		Query: fmt.Sprintf("g.V().hasLabel('%s')%s%s", s.Type, s.aboutSteps(), s.Wrong.steps()),
		Show:  "g.V()." + posture.EntityClause + ".path()", Controls: s.Controls, Unconfirmed: s.Unconfirmed, Cases: cases,
		Parameters: s.Parameters, Table: s.Table, in: in,
	}
	return f.entry(file)
}

// aboutSteps returns the steps that select the resources to which the rule applies.
func (s setting) aboutSteps() string {
	steps := s.About.steps()
	for _, c := range s.Wrong {
		if c.ended { // the rule does not apply to a resource without a version
			steps += fmt.Sprintf(".has('%s')", c.property)
		}
	}
	if steps == "" {
		return ""
	}
	return steps + ".as('about')"
}

// cases returns generated cases: a violating one, a passing one, unknown ones, and those
// of resources to which the rule does not apply.
func (s setting) cases() ([]Case, error) {
	// entity returns a resource with the given values. Values that About requires are added.
	entity := func(values map[string]any, unknown ...string) []Entity {
		properties := map[string]any{}
		for _, c := range s.About {
			properties[c.property] = c.example
		}
		maps.Copy(properties, values)
		maps.DeleteFunc(properties, func(name string, value any) bool { return value == nil || slices.Contains(unknown, name) })
		return []Entity{{Key: "one", Type: s.Type, Region: "eu-west-1", Properties: properties, Unknown: unknown}}
	}
	wrong, right := map[string]any{}, map[string]any{}
	for _, c := range s.Wrong {
		wrong[c.property], right[c.property] = c.example, c.example
	}
	// The resource passes if one value is right.
	first := s.Wrong[0]
	switch value, isSet := s.Right[first.property]; {
	case isSet:
		right[first.property] = value
	case first.hasOpposite:
		right[first.property] = first.opposite
	default:
		return nil, fmt.Errorf("right must contain a value of %s that passes", first.property)
	}
	violating, passing, unread := entity(wrong), entity(right), entity(wrong)
	cases := []Case{
		{Name: "a wrong value", Entities: violating, Violates: []string{"one"}},
		{Name: "a right value", Entities: passing},
		{Name: "the value could not be read", Entities: entity(wrong, first.property), Unknown: []string{"one"}},
		{Name: "the type could not be read this time", Entities: unread, Unread: []Unread{{Type: s.Type}}, Unknown: []string{"one"}},
	}
	if first.ended {
		absent, strange := entity(wrong), entity(wrong)
		delete(absent[0].Properties, first.property)
		strange[0].Properties[first.property] = "a version that the table does not have"
		cases = append(cases, Case{Name: "no version", Entities: absent, NotApplicable: []string{"one"}}, Case{Name: "another version", Entities: strange, Unknown: []string{"one"}})
	}
	for _, c := range s.About {
		other, ok := c.other()
		if !ok {
			continue
		}
		outside := entity(wrong)
		delete(outside[0].Properties, c.property)
		if other != nil {
			outside[0].Properties[c.property] = other
		}
		cases = append(cases, Case{Name: "another " + c.property, Entities: outside, NotApplicable: []string{"one"}})
	}
	return cases, nil
}

// conditions are conditions of properties, in the order of the file.
type conditions []condition

// A condition is one step of a query, with a value that satisfies it and one that does
// not. The value nil means that the property is absent.
type condition struct {
	property    string
	step        string
	example     any
	opposite    any
	hasOpposite bool // opposite follows from the condition
	limit       *limit
	ended       bool // the condition is about versions of a table
}

// A limit is a number with which a value is compared: a literal number or the name of a
// parameter.
type limit struct {
	number    int64
	parameter string
	isAbove   bool
}

// UnmarshalYAML reads a number or a name.
func (l *limit) UnmarshalYAML(node *yaml.Node) error {
	if node.Decode(&l.number) == nil {
		return nil
	}
	return node.Decode(&l.parameter)
}

// resolve creates the step and the values of a condition with a limit or about the
// versions of a table.
func (c *condition) resolve(parameters []parameter, table *posture.VersionTable) error {
	if c.ended {
		return c.resolveTable(table)
	}
	if c.limit == nil {
		return nil
	}
	number, text := c.limit.number, strconv.FormatInt(c.limit.number, 10)
	if name := c.limit.parameter; name != "" {
		i := slices.IndexFunc(parameters, func(p parameter) bool { return p.Name == name })
		if i < 0 {
			return fmt.Errorf("there is no parameter %s", name)
		}
		standard, ok := parameters[i].Default.(int)
		if !ok {
			return fmt.Errorf("parameter %s is not a number", name)
		}
		number, text = int64(standard), name
	}
	c.opposite = int(number)
	if c.limit.isAbove {
		c.step, c.example = fmt.Sprintf(".has('%s', gt(%s))", c.property, text), int(number+1)
	} else {
		c.step, c.example = fmt.Sprintf(".has('%s', lt(%s))", c.property, text), int(number-1)
	}
	return nil
}

// resolveTable creates the step and the values of a condition about versions. The
// verdict for a version that the table does not contain is unknown.
func (c *condition) resolveTable(table *posture.VersionTable) error {
	if table == nil {
		return errors.New("the table of versions does not exist")
	}
	ended, supported := table.At(CaseTime)
	if len(ended) == 0 || len(supported) == 0 {
		return fmt.Errorf("table %s must contain versions whose support has ended on %s and others", table.Name, CaseTime.Format(time.DateOnly))
	}
	c.step = fmt.Sprintf(".has('%[1]s', without(%[2]s)).as('perhaps').has('%[1]s', within(%[3]s))", c.property, posture.SupportedVariable, posture.EndedVariable)
	c.example, c.opposite, c.hasOpposite = ended[0], supported[0], true
	return nil
}

// isEdge reports whether the condition is about the label of an edge, which is upper-case,
// and not about a property.
func (c condition) isEdge() bool { return c.property == strings.ToUpper(c.property) }

// other returns a value that does not satisfy the condition. It returns false for an edge that
// must be absent, because generated cases have no second entity to which it could lead.
func (c condition) other() (value any, ok bool) {
	switch {
	case c.isEdge():
		return nil, false
	case c.hasOpposite:
		return c.opposite, true
	}
	return "another value", true
}

// UnmarshalYAML reads a map from properties, or labels of edges, to their conditions. The
// part "Rules about single settings" of docs/rules.md describes the forms of a condition.
func (cs *conditions) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: conditions are a map of properties", node.Line)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		c, err := newCondition(node.Content[i].Value, node.Content[i+1])
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", node.Content[i].Line, node.Content[i].Value, err)
		}
		*cs = append(*cs, c)
	}
	return nil
}

func newCondition(property string, node *yaml.Node) (condition, error) {
	c := condition{property: property}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.ScalarNode:
		err := c.scalar(node)
		return c, err
	case yaml.SequenceNode:
		var values []any
		if err := node.Decode(&values); err != nil {
			return c, err
		}
		if len(values) == 0 {
			return c, errors.New("the list of values is empty")
		}
		c.example = values[0]
		text, err := literals(values)
		c.step = fmt.Sprintf(".has('%s', within(%s))", property, text)
		return c, err
	}
	var f struct {
		Not   []any  `yaml:"not"`
		Lacks []any  `yaml:"lacks"`
		Begin string `yaml:"begins"`
		Below *limit `yaml:"below"`
		Above *limit `yaml:"above"`
	}
	if err := node.Decode(&f); err != nil {
		return c, err
	}
	if len(node.Content) != 2 { // a key and its value; Decode ignores unknown keys
		return c, errors.New("the condition must be exactly one of not, lacks, begins, below and above")
	}
	c.hasOpposite = true
	switch {
	case len(f.Not) > 0:
		text, err := literals(f.Not)
		c.step, c.example, c.opposite = fmt.Sprintf(".has('%s', without(%s))", property, text), "another value", f.Not[0]
		return c, err
	case len(f.Lacks) > 0:
		text, err := literals(f.Lacks)
		c.step, c.opposite = fmt.Sprintf(".not(has('%s', within(%s)))", property, text), f.Lacks[0]
		return c, err
	case f.Begin != "":
		text, err := literal(f.Begin)
		c.step, c.example, c.hasOpposite = fmt.Sprintf(".has('%s', startingWith(%s))", property, text), f.Begin+"1", false
		return c, err
	case f.Below != nil:
		c.limit = f.Below
	case f.Above != nil:
		c.limit, f.Above.isAbove = f.Above, true
	default:
		return c, errors.New("the condition is none of not, lacks, begins, below and above")
	}
	return c, nil
}

// scalar reads a condition that is a single word or number.
func (c *condition) scalar(node *yaml.Node) error {
	var value any
	if err := node.Decode(&value); err != nil {
		return err
	}
	switch {
	case value == "absent" && c.isEdge():
		c.step = fmt.Sprintf(".not(out('%s'))", c.property)
	case c.isEdge():
		return errors.New("an edge can only be absent")
	case value == "ended":
		c.ended = true
	case value == "absent":
		c.step, c.opposite, c.hasOpposite = fmt.Sprintf(".hasNot('%s')", c.property), "a value", true
	case value == "present":
		c.step, c.example, c.hasOpposite = fmt.Sprintf(".has('%s')", c.property), "a value", true
	default:
		c.example = value
		if b, ok := value.(bool); ok {
			c.opposite, c.hasOpposite = !b, true
		}
		text, err := literal(value)
		c.step = fmt.Sprintf(".has('%s', %s)", c.property, text)
		return err
	}
	return nil
}

// steps returns the conditions as steps of a query.
func (cs conditions) steps() string {
	var b strings.Builder
	for _, c := range cs {
		b.WriteString(c.step)
	}
	return b.String()
}

func literals(values []any) (string, error) {
	texts := make([]string, len(values))
	for i, v := range values {
		var err error
		if texts[i], err = literal(v); err != nil {
			return "", err
		}
	}
	return strings.Join(texts, ", "), nil
}

// literal writes a value into a query.
func literal(value any) (string, error) {
	switch v := value.(type) {
	case bool, int:
		return fmt.Sprint(v), nil
	case string:
		if strings.ContainsAny(v, `'\`) {
			return "", fmt.Errorf("the value %q has a quote or a backslash", v)
		}
		return "'" + v + "'", nil
	}
	return "", fmt.Errorf("%v is neither a text, a whole number nor a boolean", value)
}
