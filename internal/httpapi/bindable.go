package httpapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
)

// mustBind panics if a request cannot fill a type, so that a mistake shows when
// the routing table is built rather than at the first request.
func mustBind(t reflect.Type) {
	if t.Kind() != reflect.Struct {
		panic("httpapi: " + t.String() + " is not a struct")
	}
	if err := bindable(t, make(map[reflect.Type]bool)); err != nil {
		panic("httpapi: " + err.Error())
	}
}

// bindable returns an error if a type has a part that JSON cannot fill.
func bindable(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] || t == rawType || t == timeType || t == apiTimeType || readsJSON(t) || readsText(t) {
		return nil
	}
	seen[t] = true
	if reflect.PointerTo(t).Implements(reflect.TypeFor[selfDecoder]()) && t.Kind() == reflect.Struct { // an Optional
		f, _ := t.FieldByName("Value")
		return bindable(f.Type, seen)
	}
	switch t.Kind() {
	case reflect.Float64, reflect.Float32:
		return nil
	case reflect.Slice, reflect.Pointer:
		return bindable(t.Elem(), seen)
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return bindable(t.Elem(), seen)
		}
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return nil
		}
	case reflect.Struct:
		return bindableFields(t, seen)
	}
	return bindableScalar(t)
}

func bindableFields(t reflect.Type, seen map[reflect.Type]bool) error {
	p := planOf(t)
	for _, m := range p.members {
		if err := bindable(t.FieldByIndex(m.index).Type, seen); err != nil {
			return fmt.Errorf("%s.%s: %w", t, m.name, err)
		}
	}
	for _, pm := range p.params {
		f := t.FieldByIndex(pm.index).Type
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		if f == reflect.TypeFor[[]string]() || readsText(f) {
			continue
		}
		if err := bindableScalar(f); err != nil {
			return fmt.Errorf("%s.%s: %w", t, pm.name, err)
		}
	}
	if p.body == nil || t.FieldByIndex(p.body).Type == reflect.TypeFor[[]byte]() { // the body, undecoded
		return nil
	}
	return bindable(t.FieldByIndex(p.body).Type, seen)
}

func bindableScalar(t reflect.Type) error {
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return nil
	}
	return fmt.Errorf("cannot fill a %s from a request", t)
}

func readsJSON(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

func readsText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
