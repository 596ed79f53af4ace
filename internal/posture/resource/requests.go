package resource

import (
	"fmt"
	"iter"
	"strings"

	"vigil/internal/posture"
)

// Address returns the call for an item with its templates filled in. It fails when
// the item lacks a value that a template needs.
func (r *Request) Address(item *Item, v Vars) (string, error) {
	address := r.Path
	if address == "" {
		address = r.Call
	}
	if !strings.Contains(address, "$") {
		return address, nil
	}
	e, err := TemplateExpr(address)
	if err != nil {
		return "", err
	}
	text := e.Text(item, v)
	if text == "" {
		return "", fmt.Errorf("cannot call %s: the item lacks a value for %s", r.Call, address)
	}
	return text, nil
}

// Requests yields every request that reading a type makes: those that list it, read
// one resource, complete an item, and list the types that its functions read.
func (c *Catalog) Requests(t *Type) iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		for r := range c.listRequests(t) {
			if !yield(r) {
				return
			}
		}
		if t.Get != nil {
			if s := t.GetStage(); (s.Call != "" || s.Permission != "") && !yield(&s.Request) {
				return
			}
		}
		for i := range t.Calls {
			if call := &t.Calls[i]; call.Call != "" && !yield(&call.Request) {
				return
			}
			for _, call := range c.functions.Answer[t.Calls[i].Function].Calls {
				if !yield(&Request{Call: call}) {
					return
				}
			}
		}
		for _, other := range t.referencedTypes() {
			for r := range c.listRequests(c.byType[other]) {
				if !yield(r) {
					return
				}
			}
		}
		for a := range t.Answers() {
			for _, d := range a.Derive {
				for _, permission := range d.function.Permissions {
					if !yield(&Request{Permission: permission}) {
						return
					}
				}
			}
		}
	}
}

// listRequests yields the requests that listing a type makes.
func (c *Catalog) listRequests(t *Type) iter.Seq[*Request] {
	return func(yield func(*Request) bool) {
		stages := c.expand(t.List)
		for i := range stages {
			if s := &stages[i]; (s.Call != "" || s.Permission != "") && !yield(&s.Request) {
				return
			}
			f := c.functions.List[stages[i].Function]
			for _, call := range f.Calls {
				if !yield(&Request{Call: call}) {
					return
				}
			}
			for _, other := range f.Reads {
				for r := range c.listRequests(c.byType[other]) {
					if !yield(r) {
						return
					}
				}
			}
		}
	}
}

// referencedTypes returns the types whose lists the functions of a type read.
func (t *Type) referencedTypes() (all []posture.EntityType) {
	for a := range t.Answers() {
		for _, d := range a.Derive {
			all = append(all, d.function.Reads...)
		}
	}
	return all
}

// Answers yields the declarations of all responses: that of the list and those of
// the calls.
func (t *Type) Answers() iter.Seq[*Answer] {
	return func(yield func(*Answer) bool) {
		if !yield(&t.Answer) {
			return
		}
		for i := range t.Calls {
			if !yield(&t.Calls[i].Answer) {
				return
			}
		}
	}
}

// AllProperties returns the properties, including those of functions.
func (a *Answer) AllProperties() []Property {
	all := append([]Property{}, a.Properties...)
	for _, d := range a.Derive {
		all = append(all, d.function.Properties...)
	}
	return all
}

// AllEdges returns the edges, including those of functions.
func (a *Answer) AllEdges() []Edge {
	all := append([]Edge{}, a.Edges...)
	for _, d := range a.Derive {
		all = append(all, d.function.Edges...)
	}
	return all
}

// IsSingle reports whether an account or region has exactly one resource of the
// type, which is listed without a call. It is false for the Azure tenant, whose
// existence follows from the credential.
func (t *Type) IsSingle() bool {
	return len(t.List) == 1 && t.List[0].Single && t.Type.Provider() != posture.Azure
}
