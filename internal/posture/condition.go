package posture

import (
	"strconv"
	"strings"
)

// Truth is the answer to a condition. What could not be read makes a condition
// neither true nor false.
type Truth uint8

// The truths.
const (
	No Truth = iota
	Maybe
	Yes
)

// A Condition is one thing that the search language says of an entity. Values and
// names are compared without regard to case.
type Condition interface {
	// Of says whether the condition holds for an entity.
	Of(e *Entity) Truth
	// Ask passes on every attribute that the condition looks at.
	Ask(about func(Attribute))
}

type (
	// AllOf holds when every part does.
	AllOf []Condition

	// AnyOf holds when at least one part does.
	AnyOf []Condition

	// NotSo holds when its part does not.
	NotSo struct{ Part Condition }

	// Equal holds when one of the values of an attribute is this one. Of an
	// attribute that is not there it is not so.
	Equal struct {
		Attribute Attribute
		Value     string
	}

	// Exists holds when an entity has an attribute.
	Exists struct{ Attribute Attribute }
)

// Of implements [Condition].
func (c AllOf) Of(e *Entity) Truth {
	all := Yes
	for _, part := range c {
		if all = min(all, part.Of(e)); all == No {
			break
		}
	}
	return all
}

// Of implements [Condition].
func (c AnyOf) Of(e *Entity) Truth {
	one := No
	for _, part := range c {
		if one = max(one, part.Of(e)); one == Yes {
			break
		}
	}
	return one
}

// Of implements [Condition].
func (c NotSo) Of(e *Entity) Truth { return Yes - c.Part.Of(e) }

// Of implements [Condition].
func (c Equal) Of(e *Entity) Truth {
	answer := No
	for value, known := range c.Attribute.values(e) {
		switch {
		case !known:
			answer = Maybe
		case same(value, c.Value):
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

// Ask implements [Condition].
func (c AllOf) Ask(about func(Attribute)) {
	for _, part := range c {
		part.Ask(about)
	}
}

// Ask implements [Condition].
func (c AnyOf) Ask(about func(Attribute)) { AllOf(c).Ask(about) }

// Ask implements [Condition].
func (c NotSo) Ask(about func(Attribute)) { c.Part.Ask(about) }

// Ask implements [Condition].
func (c Equal) Ask(about func(Attribute)) { about(c.Attribute) }

// Ask implements [Condition].
func (c Exists) Ask(about func(Attribute)) { about(c.Attribute) }

// AttributeKind says where an attribute of an entity is kept.
type AttributeKind uint8

// The kinds of attribute.
const (
	FieldAttribute    AttributeKind = iota // a member of the record
	PropertyAttribute                      // property.X
	TagAttribute                           // tag.X
)

// An Attribute is something of an entity that can be asked for by name.
type Attribute struct {
	Kind AttributeKind
	Name string
}

// The fields of an entity that can be asked for, in their wire spelling.
const (
	FieldType      = "entityType"
	FieldName      = "entityName"
	FieldAccount   = "cloudAccountId"
	FieldPartition = "partitionKey"
	FieldRegion    = "region"
	FieldService   = "service"
	FieldProvider  = "provider"
)

// EntityFields lists the fields that can be searched and counted. The id is not
// among them: whoever knows it can ask for the entity.
var EntityFields = []string{FieldType, FieldName, FieldAccount, FieldPartition, FieldRegion, FieldService, FieldProvider}

// ParseAttribute reads "property.X", "tag.X" or the name of a field in any case.
// It reports false when there is no such field.
func ParseAttribute(s string) (Attribute, bool) {
	for prefix, kind := range map[string]AttributeKind{"property.": PropertyAttribute, "tag.": TagAttribute} {
		if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			return Attribute{kind, s[len(prefix):]}, true
		}
	}
	name, ok := fold(s, EntityFields)
	return Attribute{FieldAttribute, name}, ok
}

// values yields the values of an attribute, and false for one that is unknown.
func (a Attribute) values(e *Entity) func(yield func(value string, known bool) bool) {
	return func(yield func(string, bool) bool) {
		switch a.Kind {
		case FieldAttribute:
			yield(e.field(a.Name), true)
		case PropertyAttribute:
			for _, p := range e.Properties {
				if same(p.Name, a.Name) && !yield(p.Plain(), p.Type != UnknownProperty) {
					return
				}
			}
		case TagAttribute:
			for name, value := range e.Tags {
				if same(name, a.Name) && !yield(value, true) {
					return
				}
			}
			if e.tagsUnread() {
				yield("", false)
			}
		}
	}
}

// tagsUnread reports whether the tags of the entity could not be read.
func (e *Entity) tagsUnread() bool {
	for i := range e.Properties {
		if p := &e.Properties[i]; p.Type == UnknownProperty && same(p.Name, TagsUnread) {
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

// field returns a member of the record by its wire name.
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

// Plain returns the value of a property as the search language writes it.
func (p Property) Plain() string {
	switch p.Type {
	case BoolProperty:
		return strconv.FormatBool(p.Bool)
	case LongProperty:
		return strconv.FormatInt(p.Long, 10)
	}
	return p.String
}

// Fold returns the one form of all texts that differ in case only. Whatever
// compares values of entities without case compares this.
func Fold(s string) string {
	if plain(s) {
		return strings.ToLower(s)
	}
	return strings.ToLower(strings.ToUpper(s))
}

// same reports whether two texts have the same Fold.
func same(a, b string) bool {
	if plain(a) && plain(b) {
		return strings.EqualFold(a, b)
	}
	return Fold(a) == Fold(b)
}

// plain reports whether a text is ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
