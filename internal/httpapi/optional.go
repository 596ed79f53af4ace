package httpapi

import (
	"encoding/json"
	"reflect"
)

// selfDecoder is implemented by types of this package that decode themselves.
type selfDecoder interface{ decode(d *decoder) }

// Optional is a member that distinguishes not sent, null and a value; in a PUT:
// keep, clear and set. The zero value means not sent.
type Optional[T any] struct {
	Sent  bool // the member was present, perhaps as null
	Null  bool
	Value T
}

// Some returns an Optional with a value.
func Some[T any](value T) Optional[T] { return Optional[T]{Sent: true, Value: value} }

// Set reports whether the member has a value.
func (o Optional[T]) Set() bool { return o.Sent && !o.Null }

// Or returns the value, the zero value for null, or old when nothing was sent.
func (o Optional[T]) Or(old T) T {
	if !o.Sent {
		return old
	}
	return o.Value
}

// IsZero makes omitzero leave out a member that was not sent.
func (o Optional[T]) IsZero() bool { return !o.Sent }

// MarshalJSON writes the value, or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if !o.Set() {
		return []byte("null"), nil
	}
	return json.Marshal(o.Value)
}

func (o *Optional[T]) decode(d *decoder) {
	o.Sent = true
	if d.kind() == 'n' {
		d.scalar()
		o.Null = true
		return
	}
	d.value(reflect.ValueOf(&o.Value).Elem())
}

func (o *Optional[T]) inner() reflect.Value {
	if !o.Set() {
		return reflect.Value{}
	}
	return reflect.ValueOf(&o.Value).Elem()
}

// OneOrMany is a member that may be sent as one value or as an array of them.
type OneOrMany[T any] []T

func (m *OneOrMany[T]) decode(d *decoder) {
	list := (*[]T)(m)
	if d.kind() == '[' {
		d.slice(reflect.ValueOf(list).Elem())
		return
	}
	one := make([]T, 1)
	d.value(reflect.ValueOf(&one[0]).Elem())
	*list = one
}
