package posture

import (
	"slices"
	"strconv"
	"strings"

	"vigil/internal/fault"
)

// The types of property values. Unknown means that the value could not be read: it is
// neither absent nor false, and rules that need it neither raise nor resolve findings.
const (
	StringProperty  = "string"
	BoolProperty    = "bool"
	LongProperty    = "long"
	UnknownProperty = "unknown"
)

// A Property is one named value of an account, a credential or an entity.
type Property struct {
	Name   string
	Type   string // one of the types above
	String string
	Bool   bool
	Long   int64
	Error  string // why the value is unknown
}

// Text returns a string property.
func Text(name, value string) Property {
	return Property{Name: name, Type: StringProperty, String: value}
}

// Flag returns a bool property.
func Flag(name string, value bool) Property {
	return Property{Name: name, Type: BoolProperty, Bool: value}
}

// Number returns a long property.
func Number(name string, value int64) Property {
	return Property{Name: name, Type: LongProperty, Long: value}
}

// Unknown returns a property that could not be read.
func Unknown(name, reason string) Property {
	return Property{Name: name, Type: UnknownProperty, Error: reason}
}

// lookup returns the property with a name, ignoring case, and its index, or -1.
func lookup(ps []Property, name string) (Property, int) {
	i := slices.IndexFunc(ps, func(p Property) bool { return strings.EqualFold(p.Name, name) })
	if i < 0 {
		return Property{}, -1
	}
	return ps[i], i
}

// duplicates reports the properties whose names occurred before.
func duplicates(ps []Property) []fault.Detail {
	var bad []fault.Detail
	for i, p := range ps {
		if _, first := lookup(ps, p.Name); first < i {
			bad = append(bad, invalid(i, "name", "is given twice"))
		}
	}
	return bad
}

// invalid returns an error detail for a member of the i-th property.
func invalid(i int, member, message string) fault.Detail {
	return fault.Detail{Path: "properties[" + strconv.Itoa(i) + "]." + member, Message: message}
}
