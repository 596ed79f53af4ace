// Package conform checks declarations against the API descriptions that the clouds publish:
// every call, every member of its input and every path into its response must exist and
// have the declared type and permitted values.
package conform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/posture/collect/awsapi"
	"vigil/internal/posture/collect/awsapi/model"
	"vigil/internal/posture/resource"
)

// An item describes an item of a list: its shape, and the item of the previous stage that it was read from.
type item struct {
	shape   *model.Shape // nil when unknown
	parent  *item
	answers map[string]*model.Shape // responses of named calls
}

// A Describe function returns the published shapes of the input and output of a call, nil
// when they are unknown. It fails when there is no such call.
type Describe func(r *resource.Request) (input, output *model.Shape, err error)

// A checker collects the mistakes of one type.
type checker struct {
	describe Describe
	errs     []error
}

func (c *checker) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	hasSameText := func(other error) bool { return other.Error() == err.Error() }
	if !slices.ContainsFunc(c.errs, hasSameText) { // list and get may report the same mistake
		c.errs = append(c.errs, err)
	}
}

// AWS checks a type of AWS against the models that AWS publishes.
func AWS(catalog *resource.Catalog, t *resource.Type) []error {
	return Type(catalog, t, func(r *resource.Request) (input, output *model.Shape, err error) {
		service, operation, _ := strings.Cut(r.Call, ".")
		op, err := awsapi.Describe(service, operation)
		if err != nil {
			return nil, nil, err
		}
		return op.Input, op.Output, nil
	})
}

// Type checks a type against the descriptions of its calls.
func Type(catalog *resource.Catalog, t *resource.Type, describe Describe) []error {
	c := &checker{describe: describe}
	listed := c.list(catalog.Stages(t))
	if listed == nil {
		return []error{errors.New("the declaration has no list")}
	}
	if t.Get != nil {
		get := t.GetStage()
		if single := c.list([]resource.Stage{get}); single != nil && single.shape != nil {
			single.answers = map[string]*model.Shape{}
			single.parent = listed.parent // ^ is checked as for an item of the list
			c.answer(&t.Answer, single)
		}
	}
	listed.answers = map[string]*model.Shape{}
	c.alternatives("name", t.Name, listed)
	c.lookups("region", t.Region.Lookups(), listed)
	c.answer(&t.Answer, listed)
	for i := range t.Calls {
		call := &t.Calls[i]
		c.conditions(call.Call+": when", call.When, listed)
		shape := c.call(&call.Request, listed)
		for _, version := range call.Unchanged {
			c.lookups(call.Call+": unchanged", version.Item.Lookups(), listed)
			c.lookups(call.Call+": unchanged", version.Answer.Lookups(), &item{shape: shape, parent: listed})
		}
		if !call.At.IsZero() {
			shape = c.follow(call.Call+": at", call.At.Lookups(), &item{shape: shape, parent: listed})
		}
		element := shape
		if shape != nil && shape.Type == model.List {
			element = shape.Item.Shape
		}
		c.conditions(call.Call+": where", call.Where, &item{shape: element, parent: listed})
		c.conditions(call.Call+": find", call.Find, &item{shape: element, parent: listed})
		if len(call.Find) > 0 {
			shape = element
		}
		answer := &item{shape: shape, parent: listed, answers: listed.answers}
		c.answer(&call.Answer, answer)
		listed.answers[call.As] = shape
	}
	// The responses that these may use are known only now.
	c.alternatives("xid", t.XID, listed)
	c.alternatives("display", t.Display, listed)
	return c.errs
}

// list checks the stages of a list and returns the shape of its items.
func (c *checker) list(stages []resource.Stage) *item {
	var enclosing *item // nil before the first stage
	for i := range stages {
		s := &stages[i]
		switch {
		case s.Single || s.NameOnly:
			enclosing = &item{}
			continue
		case s.Function != "":
			enclosing = &item{parent: enclosing}
			continue
		}
		c.conditions(s.Call+": when", s.When, enclosing)
		if s.Batch != nil {
			c.lookups(s.Call+": batch", s.Batch.Of.Lookups(), enclosing)
		}
		page := enclosing // a stage without a call extracts items from the previous item
		if s.Call != "" || enclosing == nil {
			page = &item{shape: c.call(&s.Request, enclosing), parent: enclosing}
		}
		shape := page.shape
		if len(s.Items) > 0 {
			shape = c.follow(s.Call+": items", s.Items[0].Lookups(), page)
			for _, other := range s.Items[1:] {
				c.follow(s.Call+": items", other.Lookups(), page)
				shape = nil // alternatives may have different shapes
			}
		}
		for shape != nil && shape.Type == model.List { // nested lists are flattened
			shape = shape.Item.Shape
		}
		parent := enclosing
		if s.Batch != nil { // the call is made for several items, which have the same parent
			parent = enclosing.parent
		}
		enclosing = &item{shape: shape, parent: parent}
		c.conditions(s.Call+": where", s.Where, enclosing)
	}
	return enclosing
}

// call checks that a call and the members of its input exist, and returns the shape of its
// response.
func (c *checker) call(r *resource.Request, parent *item) *model.Shape {
	if r.Call == "" { // a function makes the calls
		return nil
	}
	input, output, err := c.describe(r)
	if err != nil {
		c.fail("%s: there is no such read operation", r.Call)
		return nil
	}
	for _, m := range r.Input.Members() {
		shape := input
		for _, name := range m.Names {
			for shape != nil && shape.Type == model.List {
				shape = shape.Item.Shape
			}
			if shape == nil || shape.Type == model.Map {
				break
			}
			member := shape.Member(name)
			if member == nil {
				c.fail("%s: its input has no member %s", r.Call, strings.Join(m.Names, "."))
				break
			}
			shape = member.Shape
		}
		c.lookups(r.Call+": input "+strings.Join(m.Names, "."), m.From.Lookups(), parent)
	}
	for _, m := range requiredMembers(input) {
		if !slices.ContainsFunc(r.Input.Members(), func(member resource.InputMember) bool { return member.Names[0] == m }) {
			c.fail("%s: its input needs %s", r.Call, m)
		}
	}
	return output
}

func requiredMembers(s *model.Shape) (names []string) {
	if s == nil {
		return nil
	}
	for _, m := range s.Members {
		if m.Required {
			names = append(names, m.Name)
		}
	}
	return names
}

// conditions checks that the paths of conditions exist.
func (c *checker) conditions(what string, all resource.Conditions, start *item) {
	for _, condition := range all {
		c.lookups(what, condition.At.Lookups(), start)
	}
}

// lookups checks that paths exist.
func (c *checker) lookups(what string, all []resource.Lookup, start *item) {
	for _, l := range all {
		c.lookup(what, l, start)
	}
}

// alternatives checks that at least one of several expressions exists.
func (c *checker) alternatives(what string, all resource.Exprs, start *item) {
	var failures []error
	for _, e := range all {
		try := new(checker)
		try.lookups(what, e.Lookups(), start)
		if len(try.errs) == 0 {
			return
		}
		failures = append(failures, try.errs...)
	}
	c.errs = append(c.errs, failures...)
}

// follow returns the shape at the path of an expression with one path.
func (c *checker) follow(what string, all []resource.Lookup, start *item) *model.Shape {
	if len(all) != 1 {
		c.lookups(what, all, start)
		return nil
	}
	return c.lookup(what, all[0], start)
}

func (c *checker) lookup(what string, l resource.Lookup, start *item) *model.Shape {
	for up := l.Up; up > 0 && start != nil; up-- {
		start = start.parent
	}
	if start == nil {
		c.fail("%s: %s looks above the first item", what, l.Path)
		return nil
	}
	from := start.shape
	if l.Answer != "" {
		for start.answers == nil && start.parent != nil {
			start = start.parent
		}
		from = start.answers[l.Answer]
	}
	shape, err := walk(from, l.Path)
	if err != nil {
		c.fail("%s: %s: %v", what, l.Path, err)
	}
	return shape
}

// answer checks the declaration of a response.
func (c *checker) answer(a *resource.Answer, start *item) {
	for _, p := range a.Properties {
		c.alternatives("property "+p.Name, p.At, start)
		var enum []string // values of all alternatives
		for _, from := range p.At {
			shape := new(checker).follow("", from.Lookups(), start) // its mistakes were reported above
			enum = append(enum, c.kind(&p, shape, from)...)
		}
		c.values(&p, enum)
	}
	for _, e := range a.Edges {
		c.lookups("edge "+e.Label, e.Ref.Lookups(), start)
	}
	c.lookups("tags", a.Tags.Lookups(), start)
	for _, d := range a.Derive {
		c.lookups(d.Name, d.At.Lookups(), start)
	}
}

// kind checks the type of a property and returns the values that the cloud permits, nil when
// it permits any. A template is always a string.
func (c *checker) kind(p *resource.Property, s *model.Shape, from resource.Expr) []string {
	if s == nil || strings.Contains(from.String(), "$") {
		return nil
	}
	inner := s
	for inner.Type == model.List {
		inner = inner.Item.Shape
	}
	switch {
	case p.NotEmpty, len(p.Is) > 0, !p.Each.IsZero(): // these convert the value to the kind
	case p.Kind == resource.Flag && inner.Type != model.Boolean && inner.Type != model.String,
		p.Kind == resource.Long && !slices.Contains([]model.Type{model.Integer, model.Long, model.String, model.Float, model.Double}, inner.Type),
		p.Kind == resource.Time && inner.Type != model.Timestamp && inner.Type != model.String,
		p.Kind == resource.Text && (inner.Type == model.Structure || inner.Type == model.Map || s.Type == model.List):
		c.fail("property %s is declared as %s, but the cloud returns a %s", p.Name, p.Kind, s.Type)
	}
	return inner.Enum
}

// values checks that the permitted values of a property are among those of the cloud.
func (c *checker) values(p *resource.Property, enum []string) {
	if len(enum) == 0 {
		return
	}
	for _, v := range slices.Concat(p.Values, p.Is) {
		if !slices.ContainsFunc(enum, func(e string) bool { return matches(v, e) }) && v != p.Absent && !isMapped(p, v) {
			c.fail("property %s: %q is not one of the cloud's values: %s", p.Name, v, strings.Join(enum, ", "))
		}
	}
}

// matches compares a declared value, which may be a pattern such as *word*, with a value of the cloud.
func matches(declared, value string) bool {
	if word := strings.Trim(declared, "*"); word != declared {
		return strings.Contains(strings.ToLower(value), strings.ToLower(word))
	}
	return strings.EqualFold(declared, value)
}

// isMapped reports whether the declaration itself produces a value.
func isMapped(p *resource.Property, v string) bool {
	for _, to := range p.Map {
		if to == v {
			return true
		}
	}
	return false
}
