package azure

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// A row is a property and where answers have it.
type row struct {
	collect.Property
	value func(gjson.Result) any // a string, bool, int64 or []string; nil when there is none
}

// The functions below keep tables short. Paths are those of package gjson.

// text is a string.
func text(name, path, doc string) row {
	return row{collect.Property{Name: name, Kind: posture.StringProperty, Doc: doc}, func(j gjson.Result) any {
		if v := j.Get(path); v.Type == gjson.String || v.Type == gjson.Number {
			return v.String()
		}
		return nil
	}}
}

// texts is a list of strings whose order means nothing.
func texts(name, path, doc string) row {
	return list(name, doc, func(j gjson.Result) []string { return flat(j.Get(path)) })
}

// flag is a bool.
func flag(name, path, doc string) row {
	return row{collect.Property{Name: name, Kind: posture.BoolProperty, Doc: doc}, func(j gjson.Result) any {
		switch v := j.Get(path); {
		case v.IsBool():
			return v.Bool()
		case v.Type == gjson.String && (strings.EqualFold(v.Str, "true") || strings.EqualFold(v.Str, "false")):
			return strings.EqualFold(v.Str, "true")
		}
		return nil
	}}
}

// equals is a bool that is true when a string has a certain value.
func equals(name, path, value, doc string) row {
	return row{collect.Property{Name: name, Kind: posture.BoolProperty, Doc: doc}, func(j gjson.Result) any {
		if v := j.Get(path); v.Type == gjson.String {
			return strings.EqualFold(v.Str, value)
		}
		return nil
	}}
}

// some is a bool that is true when a list or object has anything in it.
func some(name, path, doc string) row {
	return row{collect.Property{Name: name, Kind: posture.BoolProperty, Doc: doc}, func(j gjson.Result) any {
		v := j.Get(path)
		return v.IsObject() && len(v.Map()) > 0 || v.IsArray() && len(v.Array()) > 0
	}}
}

// number is a whole number.
func number(name, path, doc string) row {
	return row{collect.Property{Name: name, Kind: posture.LongProperty, Doc: doc}, func(j gjson.Result) any {
		if v := j.Get(path); v.Type == gjson.Number {
			return v.Int()
		}
		return nil
	}}
}

// yes is a bool that is worked out.
func yes(name, doc string, f func(gjson.Result) bool) row {
	return row{collect.Property{Name: name, Kind: posture.BoolProperty, Doc: doc}, func(j gjson.Result) any { return f(j) }}
}

// list is a list of strings that is worked out.
func list(name, doc string, f func(gjson.Result) []string) row {
	return row{collect.Property{Name: name, Kind: posture.StringProperty, List: true, Doc: doc}, func(j gjson.Result) any {
		values := slices.Clone(f(j))
		slices.Sort(values)
		return slices.Compact(values)
	}}
}

// or says what it means when Azure leaves the property out.
func (r row) or(value any) row {
	read := r.value
	r.value = func(j gjson.Result) any {
		if v := read(j); v != nil {
			return v
		}
		return value
	}
	return r
}

// put adds the property to an entity.
func (r row) put(to *resource, j gjson.Result) {
	switch v := r.value(j).(type) {
	case string:
		to.Text(r.Name, v)
	case bool:
		to.Flag(r.Name, v)
	case int64:
		to.Number(r.Name, v)
	case []string:
		to.Texts(r.Name, v...)
	}
}

// flat returns the strings of a result that may be one, a list, or lists in it.
func flat(v gjson.Result) []string {
	switch {
	case v.Type == gjson.String, v.Type == gjson.Number:
		return []string{v.String()}
	case v.IsArray():
		var all []string
		for _, e := range v.Array() {
			all = append(all, flat(e)...)
		}
		return all
	}
	return nil
}

// keys returns the names of an object's members.
func keys(v gjson.Result) []string {
	var all []string
	v.ForEach(func(key, _ gjson.Result) bool {
		all = append(all, key.String())
		return true
	})
	return all
}

// A link is an edge and where answers name its targets.
type link struct {
	collect.Edge
	ids func(s *session, j gjson.Result) []posture.EntityID
}

// refs are edges to the resources whose ids, or those of parts of them, are at a
// path.
func refs(label, path, doc string, to ...posture.EntityType) link {
	return found(label, doc, func(j gjson.Result) []string { return flat(j.Get(path)) }, to...)
}

// found is refs with ids that are worked out.
func found(label, doc string, f func(gjson.Result) []string, to ...posture.EntityType) link {
	l := link{Edge: collect.Edge{Label: label, To: to, Doc: doc}}
	l.ids = func(s *session, j gjson.Result) []posture.EntityID {
		var all []posture.EntityID
		for _, id := range f(j) {
			for _, t := range to {
				if whole, ok := within(id, kindOf(t).arm); ok {
					all = append(all, s.id(t, whole))
					break
				}
			}
		}
		return all
	}
	return l
}

// put adds the edges to an entity, each once.
func (l link) put(s *session, to *resource, j gjson.Result) {
	targets := l.ids(s, j)
	slices.Sort(targets)
	for _, id := range slices.Compact(targets) {
		to.Edge(l.Label, id)
	}
}
