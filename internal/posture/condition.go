package posture

import (
	"strconv"
	"strings"
)

// Truth is the result of a condition. It is Maybe if the result depends on a value that
// could not be read.
type Truth uint8

// The values of Truth, in the order that AllOf (minimum) and AnyOf (maximum) need.
const (
	No Truth = iota
	Maybe
	Yes
)

// A Condition is a predicate on entities, parsed from the search language. Names and
// values are compared ignoring case.
type Condition interface {
	// Of evaluates the condition for an entity.
	Of(e *Entity) Truth
	// EachAttribute calls f for every attribute that the condition uses.
	EachAttribute(f func(Attribute))
}

type (
	// AllOf is true if every part is (logical and).
	AllOf []Condition

	// AnyOf is true if at least one part is (logical or).
	AnyOf []Condition

	// Not negates its part.
	Not struct{ Part Condition }

	// Equal is true if one of the values of an attribute is Value. It is false if the
	// entity does not have the attribute.
	Equal struct {
		Attribute Attribute
		Value     string
	}

	// Exists is true if an entity has the attribute.
	Exists struct{ Attribute Attribute }
)

// Of implements [Condition].
func (c AllOf) Of(e *Entity) Truth {
	all := Yes
	for _, part := range c {
		all = min(all, part.Of(e))
		if all == No {
			break
		}
	}
	return all
}

// Of implements [Condition].
func (c AnyOf) Of(e *Entity) Truth {
	truth := No
	for _, part := range c {
		truth = max(truth, part.Of(e))
		if truth == Yes {
			break
		}
	}
	return truth
}

// Of implements [Condition]. It swaps Yes and No, and keeps Maybe.
func (c Not) Of(e *Entity) Truth { return Yes - c.Part.Of(e) }

// Of implements [Condition].
func (c Equal) Of(e *Entity) Truth {
	answer := No
	for value, known := range c.Attribute.values(e) {
		switch {
		case !known:
			answer = Maybe
		case equalFold(value, c.Value):
			return Yes
		}
	}
	return answer
}

// Of implements [Condition].
func (c Exists) Of(e *Entity) Truth {
	answer := No
	for _, known := range c.Attribute.values(e) {
		if known {
			return Yes
		}
		answer = Maybe
	}
	return answer
}

// EachAttribute implements [Condition].
func (c AllOf) EachAttribute(f func(Attribute)) {
	for _, part := range c {
		part.EachAttribute(f)
	}
}

// EachAttribute implements [Condition].
func (c AnyOf) EachAttribute(f func(Attribute)) { AllOf(c).EachAttribute(f) }

// EachAttribute implements [Condition].
func (c Not) EachAttribute(f func(Attribute)) { c.Part.EachAttribute(f) }

// EachAttribute implements [Condition].
func (c Equal) EachAttribute(f func(Attribute)) { f(c.Attribute) }

// EachAttribute implements [Condition].
func (c Exists) EachAttribute(f func(Attribute)) { f(c.Attribute) }

// AttributeKind says which part of an entity holds an attribute.
type AttributeKind uint8

// The kinds of attribute.
const (
	FieldAttribute    AttributeKind = iota // a member of the record
	PropertyAttribute                      // property.X
	TagAttribute                           // tag.X
)

// An Attribute names a field, a property or a tag of an entity.
type Attribute struct {
	Kind AttributeKind
	Name string
}

// The fields that queries can use, as in the API.
const (
	FieldType      = "entityType"
	FieldName      = "entityName"
	FieldAccount   = "cloudAccountId"
	FieldPartition = "partitionKey"
	FieldRegion    = "region"
	FieldService   = "service"
	FieldProvider  = "provider"
)

// EntityFields lists the fields that can be searched and aggregated. The id is not
// among them: a client that knows an id gets the entity directly.
var EntityFields = []string{FieldType, FieldName, FieldAccount, FieldPartition, FieldRegion, FieldService, FieldProvider}

// ParseAttribute parses "property.X", "tag.X" or the name of a field, ignoring case. It
// returns false if there is no such field.
func ParseAttribute(s string) (Attribute, bool) {
	for prefix, kind := range map[string]AttributeKind{"property.": PropertyAttribute, "tag.": TagAttribute} {
		if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			return Attribute{kind, s[len(prefix):]}, true
		}
	}
	name, ok := findFold(s, EntityFields)
	return Attribute{FieldAttribute, name}, ok
}

// values yields the values of an attribute; known is false for a value that could not
// be read.
func (a Attribute) values(e *Entity) func(yield func(value string, known bool) bool) {
	return func(yield func(string, bool) bool) {
		switch a.Kind {
		case FieldAttribute:
			yield(e.field(a.Name), true)
		case PropertyAttribute:
			for _, p := range e.Properties {
				if equalFold(p.Name, a.Name) && !yield(p.Plain(), p.Type != UnknownProperty) {
					return
				}
			}
		case TagAttribute:
			for name, value := range e.Tags {
				if equalFold(name, a.Name) && !yield(value, true) {
					return
				}
			}
			if e.hasUnreadTags() {
				yield("", false)
			}
		}
	}
}

// hasUnreadTags reports whether the tags of the entity could not be read.
func (e *Entity) hasUnreadTags() bool {
	for i := range e.Properties {
		if p := &e.Properties[i]; p.Type == UnknownProperty && equalFold(p.Name, TagsUnread) {
			return true
		}
	}
	return false
}

// Values returns the known values of an attribute.
func (a Attribute) Values(e *Entity) []string {
	var all []string
	for value, known := range a.values(e) {
		if known {
			all = append(all, value)
		}
	}
	return all
}

// field returns a field by its name in the API.
func (e *Entity) field(name string) string {
	switch name {
	case FieldType:
		return string(e.Type)
	case FieldName:
		return e.Name
	case FieldAccount, FieldPartition:
		return string(e.Account)
	case FieldRegion:
		return e.Region
	case FieldService:
		return e.Service
	case FieldProvider:
		return string(e.Provider)
	}
	return ""
}

// Plain returns the value of a property as the search language writes it; "" if it is
// unknown.
func (p Property) Plain() string {
	switch p.Type {
	case BoolProperty:
		return strconv.FormatBool(p.Bool)
	case LongProperty:
		return strconv.FormatInt(p.Long, 10)
	}
	return p.String
}

// Fold returns the case-folded form of a text. All case-insensitive comparisons of
// entity values use it.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return strings.ToLower(strings.ToUpper(s)) // ToUpper gives variants of a letter one form: ſ and s, ς and σ
}

// equalFold reports whether two texts are equal ignoring case, as Fold defines it.
func equalFold(a, b string) bool {
	if isASCII(a) && isASCII(b) {
		return strings.EqualFold(a, b)
	}
	return Fold(a) == Fold(b)
}

// isASCII reports whether a text is ASCII.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
