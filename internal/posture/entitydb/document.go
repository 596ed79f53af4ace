package entitydb

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"vigil/internal/posture"
)

// docVersion is the first byte of every document.
const docVersion = 1

// The types of property values in a document.
const (
	docText byte = iota
	docTrue
	docFalse
	docLong
	docUnknown
)

// cellContext holds the fields that all entities of a cell share. They are kept in
// the tables of accounts and cells, not in the document of each entity.
type cellContext struct {
	account  posture.AccountID
	provider posture.Provider
	typ      posture.EntityType
	region   string
}

func contextOf(e *posture.Entity) cellContext {
	return cellContext{e.Account, e.Provider, e.Type, e.Region}
}

// idPrefix returns the prefix that most entity ids of the cell have.
func (c cellContext) idPrefix() string { return string(c.typ.ID(c.account, c.region, "")) }

// appendDoc appends the encoding of an entity without its cell context. The encoding
// is canonical: equal entities have equal documents.
func appendDoc(b []byte, idPrefix string, e *posture.Entity) []byte {
	b = append(b, docVersion)
	b = appendRelative(b, idPrefix, string(e.ID))
	b = appendRelative(b, string(e.ID), e.Name)
	b = appendText(b, e.XID)
	b = appendProperties(b, e.Properties)
	b = appendTags(b, e.Tags)
	b = binary.AppendUvarint(b, uint64(len(e.Edges)))
	for _, edge := range e.Edges {
		b = appendText(b, edge.Label)
		b = appendRelative(b, string(e.ID), string(edge.To))
		b = appendProperties(b, edge.Properties)
	}
	return b
}

func appendTags(b []byte, tags map[string]string) []byte {
	var space [32]string
	names := space[:0]
	for name := range tags {
		names = append(names, name)
	}
	slices.Sort(names)
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = appendText(b, name)
		b = appendText(b, tags[name])
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendRelative appends a text as its difference from another: only the length of the
// text if the other ends with it, otherwise the length of the common prefix and the rest.
func appendRelative(b []byte, other, s string) []byte {
	if len(s) > 2 && strings.HasSuffix(other, s) {
		// The lowest bit distinguishes suffix (1) and prefix (0).
		return binary.AppendUvarint(b, uint64(len(s))<<1|1)
	}
	n := 0
	for n < len(s) && n < len(other) && s[n] == other[n] {
		n++
	}
	b = binary.AppendUvarint(b, uint64(n)<<1)
	return appendText(b, s[n:])
}

func appendProperties(b []byte, ps []posture.Property) []byte {
	b = binary.AppendUvarint(b, uint64(len(ps)))
	for _, p := range ps {
		b = appendText(b, p.Name)
		switch p.Type {
		case posture.BoolProperty:
			kind := docFalse
			if p.Bool {
				kind = docTrue
			}
			b = append(b, kind)
		case posture.LongProperty:
			b = binary.AppendVarint(append(b, docLong), p.Long)
		case posture.UnknownProperty:
			b = appendText(append(b, docUnknown), p.Error)
		default:
			b = appendText(append(b, docText), p.String)
		}
	}
	return b
}

var errDamaged = errors.New("the row of an entity is damaged")

// readDoc decodes an entity that appendDoc encoded. Its strings share one allocation.
func readDoc(doc []byte, h cellContext) (posture.Entity, error) {
	e := h.entity()
	if len(doc) == 0 || doc[0] != docVersion {
		return e, errDamaged
	}
	r := docReader{rest: string(doc[1:])}
	e.ID = posture.EntityID(r.relative(h.idPrefix()))
	e.Name = r.relative(string(e.ID))
	e.XID = r.text()
	e.Properties = r.properties()
	if n := r.count(); n > 0 {
		e.Tags = make(map[string]string, n)
		for range n {
			name := r.text()
			e.Tags[name] = r.text()
		}
	}
	if n := r.count(); n > 0 {
		e.Edges = make([]posture.Edge, n)
		for i := range e.Edges {
			edge := &e.Edges[i]
			edge.Label = r.text()
			edge.To = posture.EntityID(r.relative(string(e.ID)))
			edge.Properties = r.properties()
		}
	}
	if r.malformed || r.rest != "" {
		return e, errDamaged
	}
	return e, nil
}

// docReader decodes a document. Malformed input puts it in the error state, in which
// every read returns zero values.
type docReader struct {
	rest      string
	malformed bool
}

func (r *docReader) fail() {
	r.malformed, r.rest = true, ""
}

func (r *docReader) uvarint() uint64 {
	var v uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		c := r.rest[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return v
		}
	}
	r.fail()
	return 0
}

// count reads the length of a list or text. Each element takes at least one byte: a length
// above that of the rest is malformed, and would allocate too much memory.
func (r *docReader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *docReader) text() string {
	n := r.count()
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *docReader) relative(other string) string {
	v := r.uvarint()
	n := v >> 1
	if n > uint64(len(other)) {
		r.fail()
		return ""
	}
	if v&1 == 1 {
		return other[len(other)-int(n):]
	}
	tail := r.text()
	if n == 0 {
		return tail
	}
	return other[:n] + tail
}

func (r *docReader) kind() byte {
	if r.rest == "" {
		r.fail()
		return 0
	}
	k := r.rest[0]
	r.rest = r.rest[1:]
	return k
}

func (r *docReader) properties() []posture.Property {
	n := r.count()
	if n == 0 {
		return nil
	}
	ps := make([]posture.Property, n)
	for i := range ps {
		name := r.text()
		ps[i] = r.value()
		ps[i].Name = name
	}
	return ps
}

// value reads the type and value of a property, without its name.
func (r *docReader) value() (p posture.Property) {
	switch k := r.kind(); k {
	case docText:
		p.Type, p.String = posture.StringProperty, r.text()
	case docTrue, docFalse:
		p.Type, p.Bool = posture.BoolProperty, k == docTrue
	case docLong:
		v := r.uvarint() // zigzag, see binary.AppendVarint
		p.Type, p.Long = posture.LongProperty, int64(v>>1)^-int64(v&1)
	case docUnknown:
		p.Type, p.Error = posture.UnknownProperty, r.text()
	default:
		r.fail()
	}
	return p
}
