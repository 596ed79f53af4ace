package resource

import "slices"

// A Lookup is one path of an expression. Tests check it against the cloud's own
// description of its responses.
type Lookup struct {
	Up     int    // number of levels above the item
	Answer string // name of the call whose response it applies to; "" for the item
	Path   string // gjson path
}

// Lookups returns the paths of an expression.
func (e Expr) Lookups() (all []Lookup) {
	for _, p := range e.parts {
		if p.path.text != "" {
			all = append(all, Lookup{p.path.up, p.path.answer, p.path.text})
		}
	}
	return all
}

// Lookups returns the paths of all alternatives.
func (es Exprs) Lookups() (all []Lookup) {
	for _, e := range es {
		all = append(all, e.Lookups()...)
	}
	return all
}

// An InputMember is a member of an input: the names that lead to it, and its
// expression, which is zero for a literal.
type InputMember struct {
	Names []string
	From  Expr
}

// Members returns the members of an input, including those of nested objects.
func (in Input) Members() (all []InputMember) {
	for _, m := range in.members {
		all = append(all, m.value.walk([]string{m.name})...)
	}
	return all
}

func (val value) walk(names []string) (all []InputMember) {
	all = append(all, InputMember{Names: names, From: val.template})
	if val.object != nil {
		for _, m := range val.object.members {
			all = append(all, m.value.walk(slices.Concat(names, []string{m.name}))...)
		}
	}
	for _, element := range val.list {
		all = append(all, element.walk(names)...)
	}
	return all
}

// Stages returns the stages of a type's list. A first stage with from is replaced by the
// stages of the type that it names.
func (c *Catalog) Stages(t *Type) []Stage { return c.expand(t.List) }
