package store

import (
	"strings"
	"unsafe"

	"vigil/internal/posture"
)

// wanted is what somebody looks at in very many entities. The rest is not worth
// the time that reading it takes.
type wanted struct {
	all        bool
	name       bool
	properties []string
	tags       []string

	// What was read last, whose space is used again.
	found  []posture.Property
	tagged map[string]string
}

// of adds an attribute.
func (w *wanted) of(a posture.Attribute) {
	switch {
	case !ascii(a.Name): // it may be written in other letters
		w.all = true
	case a.Kind == posture.PropertyAttribute:
		w.properties = append(w.properties, a.Name)
	case a.Kind == posture.TagAttribute:
		w.tags = append(w.tags, a.Name)
	case a.Name == posture.FieldName:
		w.name = true
	}
}

// aggregation adds what an aggregation counts.
func (w *wanted) aggregation(a posture.Aggregation) {
	w.of(a.Of)
	for _, sub := range a.Sub {
		w.aggregation(sub)
	}
}

// filter adds what a filter looks at.
func (w *wanted) filter(f posture.EntityFilter) {
	w.name = w.name || len(f.Names) > 0
	if f.Where != nil {
		f.Where.Ask(w.of)
	}
}

// among reports whether a name may be one of those that are wanted.
func among(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return len(names) > 0 && !ascii(name)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// readSome reads of a doc what is wanted, and perhaps more. What it returns is
// good until the doc changes or it is called again: very many docs are read, and
// hardly anything of them is kept.
func readSome(doc []byte, h home, w *wanted) (posture.Entity, error) {
	if w.all {
		return readDoc(doc, h)
	}
	e := posture.Entity{
		Type: h.typ, Account: h.account, Provider: h.provider, Region: h.region, Service: h.typ.Service(),
	}
	if len(doc) == 0 || doc[0] != docVersion {
		return e, errDoc
	}
	r := docReader{rest: unsafe.String(unsafe.SliceData(doc), len(doc))[1:]}
	if w.name {
		e.ID = posture.EntityID(r.since(h.root()))
		e.Name = r.since(string(e.ID))
	} else {
		r.skipSince()
		r.skipSince()
	}
	r.text()
	w.found = w.found[:0]
	for range r.count() {
		name := r.text()
		p := r.value()
		if among(w.properties, name) {
			p.Name = name
			w.found = append(w.found, p)
		}
	}
	e.Properties = w.found
	if len(w.tags) > 0 {
		if w.tagged == nil {
			w.tagged = make(map[string]string, len(w.tags))
		}
		clear(w.tagged)
		for range r.count() {
			name, value := r.text(), r.text()
			if among(w.tags, name) {
				w.tagged[name] = value
			}
		}
		e.Tags = w.tagged
	}
	if r.bad {
		return e, errDoc
	}
	return e, nil
}

// skipSince passes over what since would read.
func (r *docReader) skipSince() {
	if r.uvarint()&1 == 0 {
		r.text()
	}
}
