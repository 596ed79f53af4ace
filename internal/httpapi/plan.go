package httpapi

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// A plan describes how to fill a struct type. It is computed once per type.
type plan struct {
	members []member       // of the JSON object
	exact   map[string]int // index of the member by name
	folded  map[string]int // index of the first member by lower-case name
	params  []param        // from path, query, headers and form
	body    []int          // index of the field that takes the whole body
	form    bool           // the body is a form

	warnings []int // index of the field that takes [Warnings]
}

type member struct {
	name     string
	index    []int
	required bool
	enum     []string
	nullable bool // null counts as not sent
	maxItems int  // limit of the member's list or map; 0 for the default
}

// param is a field that is filled from a parameter rather than the JSON body.
type param struct {
	source   string // path, query, header, form
	name     string
	index    []int
	required bool
	enum     []string
}

var plans sync.Map // reflect.Type -> *plan

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{exact: make(map[string]int), folded: make(map[string]int)}
	p.add(t, nil)
	for i, m := range p.members {
		p.exact[m.name] = i
		low := strings.ToLower(m.name)
		if _, taken := p.folded[low]; !taken {
			p.folded[low] = i
		}
	}
	plans.Store(t, p)
	return p
}

func (p *plan) add(t reflect.Type, parent []int) {
	for f := range fields(t) {
		index := append(parent[:len(parent):len(parent)], f.Index...)
		required := f.Tag.Get("required") == "true"
		var enum []string
		if e := f.Tag.Get("enum"); e != "" {
			enum = strings.Split(e, ",")
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && f.Type.Kind() == reflect.Struct && name == "" {
			p.add(f.Type, index)
			continue
		}
		if !f.IsExported() {
			continue
		}
		if f.Type == reflect.TypeFor[Warnings]() {
			p.warnings = index
		}
		if _, ok := f.Tag.Lookup("body"); ok {
			p.body = index
		}
		if name != "" && name != "-" {
			p.members = append(p.members, member{name, index, required, enum, f.Tag.Get("null") == "absent", maxItems(f)})
		}
		for _, source := range []string{"path", "query", "header", "form"} {
			if name := f.Tag.Get(source); name != "" {
				p.params = append(p.params, param{source, name, index, required, enum})
				p.form = p.form || source == "form"
			}
		}
	}
}

// maxItems parses the maxItems tag.
func maxItems(f reflect.StructField) int {
	tag := f.Tag.Get("maxItems")
	if tag == "" {
		return 0
	}
	n, err := strconv.Atoi(tag)
	if err != nil || n < 1 {
		panic("httpapi: maxItems of " + f.Name + " is " + tag)
	}
	return n
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// find returns the member with a name: by exact match, or else
// case-insensitively.
func (p *plan) find(name string) (int, bool) {
	if i, ok := p.exact[name]; ok {
		return i, true
	}
	i, ok := p.folded[strings.ToLower(name)]
	return i, ok
}

// reportMissing reports the required members that were not sent.
func (p *plan) reportMissing(seen []bool, d *decoder) {
	for i, m := range p.members {
		if m.required && !seen[i] {
			d.push(m.name, 0)
			d.addError("is missing")
			d.pop()
		}
	}
}
