package aws_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vigil/internal/posture/collect/awsapi/model"
)

var (
	compared atomic.Int64 // number of compared responses
	requests atomic.Int64 // number of compared requests
	missing  sync.Map     // members that the generated modules do not have
)

// missingMembers returns the sorted names of the members in missing.
func missingMembers() []string {
	var names []string
	missing.Range(func(k, _ any) bool {
		names = append(names, k.(string))
		return true
	})
	slices.Sort(names)
	return names
}

// goName returns the name of a member in an SDK module.
func goName(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// diff describes how a value of ours differs from one of an SDK module; "" if it does
// not. Modules do not distinguish an empty list from a missing one, nor zero from a
// missing value where the field is not a pointer.
func diff(path string, s *model.Shape, ours any, v reflect.Value) string {
	if strings.HasSuffix(path, ".InferenceAcceleratorInfo.Accelerators") {
		return "" // the module looks for elements "member" where EC2 sends "item"
	}
	if _, isStream := v.Interface().(io.Reader); isStream {
		return "" // the module returns the body without reading it
	}
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			if ours == nil || empty(ours) {
				return ""
			}
			return fmt.Sprintf("%s: the module has none, we have %v", path, ours)
		}
		if ours == nil {
			return fmt.Sprintf("%s: we have none, the module has %v", path, v.Elem())
		}
		v = v.Elem()
	}
	if ours == nil {
		if v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
			return ""
		}
		return fmt.Sprintf("%s: we have none, the module has %v", path, v)
	}
	switch {
	case s.Document:
		return "" // the modules return the value as it was sent
	case s.Union || v.Kind() == reflect.Interface:
		return diffUnion(path, s, ours, v)
	}
	switch s.Type {
	case model.Structure:
		for i := range s.Members {
			m := &s.Members[i]
			f := v.FieldByName(goName(m.Name))
			if !f.IsValid() {
				missing.Store(v.Type().String()+"."+m.Name, true)
				continue
			}
			if d := diff(path+"."+m.Name, m.Shape, ours.(map[string]any)[m.Name], f); d != "" {
				return d
			}
		}
	case model.List:
		list := ours.([]any)
		if len(list) != v.Len() {
			return fmt.Sprintf("%s: the module has %d items, we have %d", path, v.Len(), len(list))
		}
		for i, e := range list {
			if d := diff(fmt.Sprintf("%s[%d]", path, i), s.Item.Shape, e, v.Index(i)); d != "" {
				return d
			}
		}
	case model.Map:
		return diffMap(path, s, ours.(map[string]any), v)
	default:
		if !sameScalar(s, ours, v) {
			return fmt.Sprintf("%s: the module has %v, we have %v", path, v, ours)
		}
	}
	return ""
}

func empty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func diffMap(path string, s *model.Shape, ours map[string]any, v reflect.Value) string {
	if len(ours) != v.Len() {
		return fmt.Sprintf("%s: the module has %v, we have %v", path, v, slices.Sorted(maps.Keys(ours)))
	}
	for _, k := range v.MapKeys() {
		e, ok := ours[k.String()]
		if !ok {
			return fmt.Sprintf("%s: the module has %q, we have not", path, k)
		}
		if d := diff(path+"."+k.String(), s.Value.Shape, e, v.MapIndex(k)); d != "" {
			return d
		}
	}
	return ""
}

func diffUnion(path string, s *model.Shape, ours any, v reflect.Value) string {
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			if empty(ours) {
				return ""
			}
			return fmt.Sprintf("%s: the module has none, we have %v", path, ours)
		}
		v = v.Elem().Elem() // the interface holds a pointer to the struct of a member
	}
	for name, e := range ours.(map[string]any) { // a union has only one member
		if !strings.HasSuffix(v.Type().Name(), "Member"+goName(name)) {
			if strings.HasPrefix(v.Type().Name(), "UnknownUnion") {
				missing.Store(path+"."+name, true)
				return ""
			}
			return fmt.Sprintf("%s: the module has a %s, we have %s", path, v.Type(), name)
		}
		return diff(path+"."+name, s.Member(name).Shape, e, v.FieldByName("Value"))
	}
	return ""
}

func sameScalar(s *model.Shape, ours any, v reflect.Value) bool {
	switch s.Type {
	case model.Boolean:
		return v.Kind() == reflect.Bool && ours == v.Bool()
	case model.Integer, model.Long:
		// Some modules return numbers as strings.
		return v.CanInt() && ours == json.Number(fmt.Sprint(v.Int())) || v.Kind() == reflect.String && ours == json.Number(v.String())
	case model.Float, model.Double:
		n, ok := ours.(json.Number)
		f, err := n.Float64()
		return ok && err == nil && v.CanFloat() && f == v.Float()
	case model.Timestamp:
		t, ok := v.Interface().(time.Time)
		text, isText := ours.(string)
		return ok && isText && t.UTC().Format(time.RFC3339Nano) == text
	case model.Blob:
		if _, stream := v.Interface().(io.Reader); stream {
			return true
		}
		return v.Kind() == reflect.Slice && ours == base64.StdEncoding.EncodeToString(v.Bytes())
	}
	// Some modules return strings as numbers.
	return v.Kind() == reflect.String && ours == v.String() || v.CanInt() && ours == fmt.Sprint(v.Int())
}

// fill sets the fields of an SDK input to generated values. It deletes from values those that the
// input cannot have.
func fill(v reflect.Value, s *model.Shape, values map[string]any) {
	for i := range s.Members {
		m := &s.Members[i]
		value, ok := values[m.Name]
		f := v.FieldByName(goName(m.Name))
		if !ok || !f.IsValid() {
			if ok {
				missing.Store(v.Type().String()+"."+m.Name, true)
				delete(values, m.Name)
			}
			continue
		}
		if !set(f, m.Shape, value) {
			delete(values, m.Name) // neither side sends it
		}
	}
}

// set sets a field to a generated value. It reports whether it could.
func set(f reflect.Value, s *model.Shape, value any) bool {
	if s.Union || s.Document || f.Kind() == reflect.Interface {
		return false
	}
	if f.Kind() == reflect.Pointer {
		made := reflect.New(f.Type().Elem())
		if !set(made.Elem(), s, value) {
			return false
		}
		f.Set(made)
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		if s.Type == model.Structure {
			fill(f, s, value)
			return true
		}
		f.Set(reflect.MakeMap(f.Type()))
		for k, e := range value {
			made := reflect.New(f.Type().Elem()).Elem()
			if !set(made, s.Value.Shape, e) {
				return false
			}
			f.SetMapIndex(reflect.ValueOf(k).Convert(f.Type().Key()), made)
		}
	case []any:
		for _, e := range value {
			made := reflect.New(f.Type().Elem()).Elem()
			if !set(made, s.Item.Shape, e) {
				return false
			}
			f.Set(reflect.Append(f, made))
		}
	case []byte:
		if f.Kind() != reflect.Slice {
			return false
		}
		f.SetBytes(value)
	default:
		given := reflect.ValueOf(value)
		if !given.CanConvert(f.Type()) || f.Kind() == reflect.Interface {
			return false
		}
		f.Set(given.Convert(f.Type()))
	}
	return true
}
