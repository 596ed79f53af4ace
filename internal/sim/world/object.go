package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// An Object is a resource, or a part of one, in its cloud's format: named
// values in a fixed order. Values are string, bool, int, int64, float64,
// time.Time, Object, List, []any of these, and nil for absent.
type Object []Field

// A Field is one named value.
type Field struct {
	Name  string
	Value any
}

// A List is a list with an element name for XML.
type List struct {
	Item string // the element's name
	Flat bool   // the elements have no parent element
	Of   []any
}

// Obj returns an object from alternating names and values.
func Obj(pairs ...any) Object {
	o := make(Object, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		o = append(o, Field{pairs[i].(string), pairs[i+1]})
	}
	return o
}

// Each returns the list of f(0) to f(n-1).
func Each[T any](n int, f func(i int) T) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = f(i)
	}
	return list
}

// Items returns a list of values.
func Items[T any](values ...T) []any {
	return Each(len(values), func(i int) T { return values[i] })
}

// Get returns the value at a path of names, or nil.
func (o Object) Get(path ...string) any {
	var v any = o
	for _, name := range path {
		object, ok := v.(Object)
		if !ok {
			return nil
		}
		v = nil
		for _, f := range object {
			if f.Name == name {
				v = f.Value
				break
			}
		}
	}
	return v
}

// Text returns the string at a path, or "".
func (o Object) Text(path ...string) string {
	s, _ := o.Get(path...).(string)
	return s
}

// Flag returns the bool at a path, or false.
func (o Object) Flag(path ...string) bool {
	b, _ := o.Get(path...).(bool)
	return b
}

// Number returns the number at a path, or 0.
func (o Object) Number(path ...string) int64 {
	switch n := o.Get(path...).(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// Time returns the time at a path, or the zero time.
func (o Object) Time(path ...string) time.Time {
	switch v := o.Get(path...).(type) {
	case time.Time:
		return v
	case string:
		t, _ := time.Parse(time.RFC3339, v)
		return t
	}
	return time.Time{}
}

// List returns the elements at a path, or nil.
func (o Object) List(path ...string) []any {
	switch v := o.Get(path...).(type) {
	case []any:
		return v
	case List:
		return v.Of
	}
	return nil
}

// Objects returns the elements at a path that are objects.
func (o Object) Objects(path ...string) []Object {
	var found []Object
	for _, v := range o.List(path...) {
		if object, ok := v.(Object); ok {
			found = append(found, object)
		}
	}
	return found
}

// With returns a copy of the object with a field replaced or added.
func (o Object) With(name string, value any) Object {
	out := append(make(Object, 0, len(o)+1), o...)
	for i := range out {
		if out[i].Name == name {
			out[i].Value = value
			return out
		}
	}
	return append(out, Field{name, value})
}

// Visible returns the object without the fields whose names begin with an
// underscore.
func (o Object) Visible() Object {
	out := make(Object, 0, len(o))
	for _, f := range o {
		if !strings.HasPrefix(f.Name, "_") {
			out = append(out, f)
		}
	}
	return out
}

// Merge returns the object with a merge patch of RFC 7386 applied: objects are
// merged, null removes, everything else replaces. Lists keep their element
// name.
func (o Object) Merge(patch Object) Object {
	for _, f := range patch {
		switch v := f.Value.(type) {
		case nil:
			o = o.With(f.Name, nil)
		case Object:
			old, _ := o.Get(f.Name).(Object)
			o = o.With(f.Name, old.Merge(v))
		case []any:
			if old, ok := o.Get(f.Name).(List); ok {
				o = o.With(f.Name, List{Item: old.Item, Flat: old.Flat, Of: v})
			} else {
				o = o.With(f.Name, v)
			}
		default:
			o = o.With(f.Name, v)
		}
	}
	return o
}

// MarshalJSON encodes the object in the order of its fields, without absent
// ones.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, f := range o {
		if f.Value == nil {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// MarshalJSON encodes the elements.
func (l List) MarshalJSON() ([]byte, error) { return json.Marshal(l.Of) }

// UnmarshalJSON decodes an object and keeps the order of its fields.
func (o *Object) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := decode(d)
	if err != nil {
		return err
	}
	object, ok := v.(Object)
	if !ok {
		return fmt.Errorf("decode object: got a %T", v)
	}
	*o = object
	return nil
}

// decode decodes the next value.
func decode(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return decodeList(d)
		}
		return decodeObject(d)
	case json.Number:
		if n, err := token.Int64(); err == nil {
			return n, nil
		}
		return token.Float64()
	}
	return token, nil
}

func decodeList(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		v, err := decode(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token() // the closing bracket
	return list, err
}

func decodeObject(d *json.Decoder) (any, error) {
	o := Object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decode(d)
		if err != nil {
			return nil, err
		}
		o = append(o, Field{name.(string), v})
	}
	_, err := d.Token() // the closing brace
	return o, err
}
