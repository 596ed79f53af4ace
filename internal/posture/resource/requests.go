package resource

import (
	"fmt"
	"iter"
	"strings"

	"vigil/internal/posture"
)

// Address returns the call for an item: its templates are filled in.
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
		return "", fmt.Errorf("%s cannot be called: the item lacks a part of %s", r.Call, address)
	}
	return text, nil
}

// Requests yields every request that reading a type makes: those of its list, of
// reading one, of completing an item, and of the lists that its functions read.
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
		for _, other := range t.reads() {
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

// reads returns the types whose lists the functions of a type ask for.
func (t *Type) reads() (all []posture.EntityType) {
	for a := range t.Answers() {
		for _, d := range a.Derive {
			all = append(all, d.function.Reads...)
		}
	}
	return all
}

// Answers yields what each answer tells: that of the list, and those of the calls.
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

// AllProperties returns the properties, those of functions included.
func (a *Answer) AllProperties() []Property {
	all := append([]Property{}, a.Properties...)
	for _, d := range a.Derive {
		all = append(all, d.function.Properties...)
	}
	return all
}

// AllEdges returns the edges, those of functions included.
func (a *Answer) AllEdges() []Edge {
	all := append([]Edge{}, a.Edges...)
	for _, d := range a.Derive {
		all = append(all, d.function.Edges...)
	}
	return all
}

// IsSingle reports whether an account or region has exactly one resource of the
// type, which is listed without a call. The tenant of Azure is none: that it is
// there is known from the credential.
func (t *Type) IsSingle() bool {
	return len(t.List) == 1 && t.List[0].One && t.Type.Provider() != posture.Azure
}
