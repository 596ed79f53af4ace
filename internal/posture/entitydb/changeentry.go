package entitydb

import (
	"encoding/binary"
	"maps"
	"slices"

	"vigil/internal/posture"
)

// changeTypes lists the change types. The encoding of a type is its index.
var changeTypes = []posture.ChangeType{posture.Added, posture.Updated, posture.Deleted}

func changeCode(t posture.ChangeType) byte { return byte(slices.Index(changeTypes, t)) }

// appendChange encodes a change log entry.
func appendChange(b []byte, id posture.EntityID, c posture.EntityChange) []byte {
	b = append(b, docVersion)
	b = appendText(b, string(id))
	b = binary.AppendUvarint(b, uint64(len(c.Properties)))
	for _, name := range slices.Sorted(maps.Keys(c.Properties)) {
		p := c.Properties[name]
		b = appendText(append(b, changeCode(p.Type)), name)
		b = appendProperties(b, p.Old)
		b = appendProperties(b, p.New)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Tags)))
	for _, name := range slices.Sorted(maps.Keys(c.Tags)) {
		t := c.Tags[name]
		b = appendText(append(b, changeCode(t.Type)), name)
		b = appendText(b, t.Old)
		b = appendText(b, t.New)
	}
	b = binary.AppendUvarint(b, uint64(len(c.Edges)))
	for _, e := range c.Edges {
		b = appendText(append(b, changeCode(e.Type)), e.Label)
		b = appendRelative(b, string(id), string(e.To))
	}
	return b
}

// readChange decodes appendChange.
func readChange(body []byte) (id posture.EntityID, c posture.EntityChange, err error) {
	if len(body) == 0 || body[0] != docVersion {
		return "", c, errDamaged
	}
	r := docReader{rest: string(body[1:])}
	id = posture.EntityID(r.text())
	c.Properties, c.Tags = map[string]posture.PropertyChange{}, map[string]posture.TagChange{}
	for range r.count() {
		t, name := r.changeType(), r.text()
		c.Properties[name] = posture.PropertyChange{Type: t, Old: r.properties(), New: r.properties()}
	}
	for range r.count() {
		t, name := r.changeType(), r.text()
		c.Tags[name] = posture.TagChange{Type: t, Old: r.text(), New: r.text()}
	}
	for range r.count() {
		t, label := r.changeType(), r.text()
		c.Edges = append(c.Edges, posture.EdgeChange{Type: t, Label: label, To: posture.EntityID(r.relative(string(id)))})
	}
	if r.malformed || r.rest != "" {
		return "", c, errDamaged
	}
	return id, c, nil
}

func (r *docReader) changeType() posture.ChangeType {
	if k := r.kind(); int(k) < len(changeTypes) {
		return changeTypes[k]
	}
	r.fail()
	return ""
}
