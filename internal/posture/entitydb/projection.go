package entitydb

import (
	"strings"
	"unsafe"

	"vigil/internal/posture"
)

// projection is the set of fields decoded during a scan. Decoding all fields of
// millions of entities would dominate the time of an aggregation.
type projection struct {
	all        bool
	name       bool
	properties []string
	tags       []string

	// Buffers that are reused for every entity.
	found  []posture.Property
	tagged map[string]string
}

// addAttribute adds an attribute.
func (p *projection) addAttribute(a posture.Attribute) {
	switch {
	case !isASCII(a.Name): // case folding may change its bytes
		p.all = true
	case a.Kind == posture.PropertyAttribute:
		p.properties = append(p.properties, a.Name)
	case a.Kind == posture.TagAttribute:
		p.tags = append(p.tags, a.Name)
	case a.Name == posture.FieldName:
		p.name = true
	}
}

// addAggregation adds the attributes that an aggregation counts by.
func (p *projection) addAggregation(a posture.Aggregation) {
	p.addAttribute(a.Of)
	for _, sub := range a.Sub {
		p.addAggregation(sub)
	}
}

// addFilter adds the attributes that a filter compares.
func (p *projection) addFilter(f posture.EntityFilter) {
	p.name = p.name || len(f.Names)+len(f.NameWords) > 0
	if f.Where != nil {
		f.Where.EachAttribute(p.addAttribute)
	}
}

// isEmpty reports whether nothing of a document is decoded.
func (p *projection) isEmpty() bool {
	return !p.all && !p.name && len(p.properties)+len(p.tags) == 0
}

// entity returns the fields that all entities of a cell share.
func (c cellContext) entity() posture.Entity {
	return posture.Entity{Type: c.typ, Account: c.account, Provider: c.provider, Region: c.region, Service: c.typ.Service()}
}

// mayContain reports whether a name may be one of names. It accepts every name that is not ASCII,
// because [posture.Fold] and EqualFold may disagree about it.
func mayContain(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return len(names) > 0 && !isASCII(name)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// readProjected decodes the fields of the projection, and perhaps more. To avoid
// allocations, the result refers to the document and to buffers of the projection: it
// is valid until the document changes or the next call.
func readProjected(doc []byte, h cellContext, fields *projection) (posture.Entity, error) {
	if fields.all {
		return readDoc(doc, h)
	}
	e := h.entity()
	if len(doc) == 0 || doc[0] != docVersion {
		return e, errDamaged
	}
	r := docReader{rest: unsafe.String(unsafe.SliceData(doc), len(doc))[1:]}
	if fields.name {
		e.ID = posture.EntityID(r.relative(h.idPrefix()))
		e.Name = r.relative(string(e.ID))
	} else {
		r.skipRelative() // id
		r.skipRelative() // name
	}
	if len(fields.properties)+len(fields.tags) == 0 {
		if r.malformed {
			return e, errDamaged
		}
		return e, nil
	}
	_ = r.text() // the XID
	fields.found = fields.found[:0]
	for range r.count() {
		name := r.text()
		p := r.value()
		if mayContain(fields.properties, name) {
			p.Name = name
			fields.found = append(fields.found, p)
		}
	}
	e.Properties = fields.found
	if len(fields.tags) > 0 {
		if fields.tagged == nil {
			fields.tagged = make(map[string]string, len(fields.tags))
		}
		clear(fields.tagged)
		for range r.count() {
			name, value := r.text(), r.text()
			if mayContain(fields.tags, name) {
				fields.tagged[name] = value
			}
		}
		e.Tags = fields.tagged
	}
	if r.malformed {
		return e, errDamaged
	}
	return e, nil
}

// skipRelative skips what relative would read.
func (r *docReader) skipRelative() {
	isSuffix := r.uvarint()&1 == 1 // of the other text; see appendRelative
	if !isSuffix {
		r.text()
	}
}
