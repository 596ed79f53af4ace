package api

import (
	"fmt"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// property is the wire form of a property. The value is in the member that its type
// names.
type property struct {
	Name    string  `json:"name" required:"true"`
	Type    string  `json:"type" enum:"string,bool,long,unknown"`
	StringV *string `json:"stringV,omitempty"`
	BoolV   *bool   `json:"boolV,omitempty"`
	LongV   *int64  `json:"longV,omitempty"`
	Error   string  `json:"error,omitempty"`
}

// valueMembers maps each type to the member that holds its value.
var valueMembers = map[string]string{
	posture.StringProperty: "stringV",
	posture.BoolProperty:   "boolV",
	posture.LongProperty:   "longV",
}

func propertyOf(p posture.Property) property {
	w := property{Name: p.Name, Type: p.Type, Error: p.Error}
	switch p.Type {
	case posture.StringProperty:
		w.StringV = &p.String
	case posture.BoolProperty:
		w.BoolV = &p.Bool
	case posture.LongProperty:
		w.LongV = &p.Long
	}
	return w
}

// parse returns the property. A type that was left out is derived from the value. If the
// value is not in the member of its type, missing is the name of that member.
func (w property) parse() (p posture.Property, missing string) {
	p = posture.Property{Name: w.Name, Type: w.Type}
	switch {
	case p.Type != "": // not left out
	case w.BoolV != nil:
		p.Type = posture.BoolProperty
	case w.LongV != nil:
		p.Type = posture.LongProperty
	default:
		p.Type = posture.StringProperty
	}
	switch {
	case p.Type == posture.StringProperty && w.StringV != nil:
		p.String = *w.StringV
	case p.Type == posture.BoolProperty && w.BoolV != nil:
		p.Bool = *w.BoolV
	case p.Type == posture.LongProperty && w.LongV != nil:
		p.Long = *w.LongV
	default:
		return p, valueMembers[p.Type]
	}
	return p, ""
}

// givenProperties parses the properties of a request.
func givenProperties(ws []property) ([]posture.Property, error) {
	ps := make([]posture.Property, len(ws))
	var bad []fault.Detail
	for i, w := range ws {
		p, missing := w.parse()
		switch {
		case p.Type == posture.UnknownProperty:
			bad = append(bad, fault.Detail{Path: fmt.Sprintf("properties[%d].type", i), Message: "must be string, bool or long"})
		case missing != "":
			bad = append(bad, fault.Detail{Path: fmt.Sprintf("properties[%d].%s", i, missing), Message: "is missing"})
		}
		ps[i] = p
	}
	if len(bad) > 0 {
		return nil, fault.Fields(bad...)
	}
	return ps, nil
}
